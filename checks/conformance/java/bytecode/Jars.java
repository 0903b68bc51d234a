package fencepost.bytecode;

import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.zip.ZipFile;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.tree.ClassNode;

/** The classes of some jars, by their names inside the virtual machine: {@code a/b/Outer$Inner}. */
final class Jars implements AutoCloseable {
    private static final String CLASS = ".class";

    private final List<ZipFile> archives = new ArrayList<>();
    private final Map<String, ZipFile> places = new HashMap<>();
    private final Map<String, List<String>> byName = new HashMap<>();
    private final Map<String, ClassNode> read = new HashMap<>();

    Jars(List<String> files) throws IOException {
        for (String file : files) {
            ZipFile archive = new ZipFile(file);
            archives.add(archive);
            archive.stream().map(each -> each.getName()).filter(each -> each.endsWith(CLASS) && !each.startsWith("META-INF/"))
                    .forEach(each -> places.putIfAbsent(each.substring(0, each.length() - CLASS.length()), archive));
        }
        for (String full : places.keySet()) {
            String name = full.substring(full.lastIndexOf('/') + 1).replace('$', '.');
            byName.computeIfAbsent(name, none -> new ArrayList<>()).add(full);
        }
    }

    /** The classes of that name without its package, {@code Outer.Inner}. */
    List<String> named(String name) {
        return byName.getOrDefault(name, List.of()).stream().sorted().toList();
    }

    /** A class without what is for debuggers alone; null if it is in none of the jars. */
    ClassNode find(String full) throws IOException {
        if (!read.containsKey(full)) {
            read.put(full, places.containsKey(full) ? parsed(full) : null);
        }
        return read.get(full);
    }

    private ClassNode parsed(String full) throws IOException {
        ZipFile archive = places.get(full);
        try (InputStream in = archive.getInputStream(archive.getEntry(full + CLASS))) {
            ClassNode node = new ClassNode();
            new ClassReader(in).accept(node, ClassReader.SKIP_DEBUG | ClassReader.SKIP_FRAMES);
            return node;
        }
    }

    @Override
    public void close() throws IOException {
        for (ZipFile archive : archives) {
            archive.close();
        }
    }
}
