package fencepost;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Folders with all that is in them. */
public final class Folders {
    private Folders() {
    }

    /** A new folder for what the code under test keeps: where Fencepost says that files are fast, otherwise with temporary files. */
    public static File fresh(String prefix) throws IOException {
        String fast = System.getProperty("fencepost.files");
        return (fast == null ? Files.createTempDirectory(prefix) : Files.createTempDirectory(Path.of(fast), prefix)).toFile();
    }

    public static void delete(File file) {
        File[] inside = file.listFiles();
        if (inside != null) {
            for (File each : inside) {
                delete(each);
            }
        }
        file.delete();
    }

    public static void copy(File from, File to) throws IOException {
        File[] inside = from.listFiles();
        if (inside == null) {
            Files.copy(from.toPath(), to.toPath());
            return;
        }
        to.mkdirs();
        for (File each : inside) {
            copy(each, new File(to, each.getName()));
        }
    }
}
