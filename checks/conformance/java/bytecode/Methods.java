package fencepost.bytecode;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.objectweb.asm.Handle;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.ClassNode;
import org.objectweb.asm.tree.InvokeDynamicInsnNode;
import org.objectweb.asm.tree.MethodInsnNode;
import org.objectweb.asm.tree.MethodNode;
import org.objectweb.asm.util.Textifier;
import org.objectweb.asm.util.TraceMethodVisitor;

/**
 * What the methods of a class do, as a digest of their instructions: without lines, names of variables and the table of constants.
 * The compiler numbers what it makes of lambdas, of anonymous classes and of switches over enums; in the place of such a name stands
 * what is behind it, so that a method differs where its lambda does, and not where only the number does.
 */
final class Methods {
    private static final int MEANT = Opcodes.ACC_STATIC | Opcodes.ACC_SYNCHRONIZED | Opcodes.ACC_ABSTRACT | Opcodes.ACC_NATIVE;
    /** What a switch without a default does with a constant that is new: since class files of Java 21 another exception. */
    private static final Pattern NO_MATCH = Pattern.compile("(NEW java/lang/)MatchException(\\s+DUP)\\s+ACONST_NULL\\s+ACONST_NULL"
            + "(\\s+INVOKESPECIAL java/lang/)MatchException(\\.<init> \\()[^)]*(\\)V)");
    private static final String OTHERWISE = "$1IncompatibleClassChangeError$2$3IncompatibleClassChangeError$4$5";

    private final Jars jars;
    private final ClassNode of;
    private final Map<String, String> digests = new HashMap<>();

    Methods(Jars jars, String full) throws IOException {
        this.jars = jars;
        of = jars.find(full);
    }

    /** Each method by its name and descriptor: its digest, and which methods of the class it calls, also in its lambdas. */
    void tell(ObjectNode told) throws IOException {
        ArrayNode parents = told.putArray("parents");
        if (of.superName != null && jars.find(of.superName) != null) {
            parents.add(of.superName);
        }
        ObjectNode methods = told.putObject("methods");
        for (MethodNode method : of.methods) {
            if (isMade(method.name)) {
                continue;
            }
            ObjectNode each = methods.putObject(method.name + method.desc);
            each.put("digest", digest(of, method));
            Set<String> calls = new TreeSet<>();
            called(of, method, calls, new TreeSet<>());
            calls.remove(method.name + method.desc);
            ArrayNode named = each.putArray("calls");
            calls.forEach(named::add);
        }
    }

    /** Whether the compiler has made and numbered a method. */
    private static boolean isMade(String name) {
        return name.startsWith("lambda$") || name.startsWith("access$");
    }

    private static boolean isNumbered(String full) {
        return full.matches(".*\\$\\d+"); // a companion of Scala's ends with the sign alone
    }

    private String digest(ClassNode owner, MethodNode method) throws IOException {
        String key = owner.name + "." + method.name + method.desc;
        String known = digests.get(key);
        if (known == null) {
            digests.put(key, "itself"); // where a lambda leads back to its method
            known = digest((method.access & MEANT) + " " + method.exceptions + "\n" + text(owner, method));
            digests.put(key, known);
        }
        return known;
    }

    private String text(ClassNode owner, MethodNode method) throws IOException {
        Textifier printer = new Textifier();
        method.accept(new TraceMethodVisitor(printer));
        StringWriter written = new StringWriter();
        PrintWriter out = new PrintWriter(written);
        printer.print(out);
        out.flush();
        String plain = NO_MATCH.matcher(written.toString()).replaceAll(OTHERWISE);
        return named(plain.replaceAll("(?m)^ *(MAXSTACK|MAXLOCALS) .*$", ""), outer(owner.name));
    }

    private static String outer(String full) {
        int nested = full.indexOf('$');
        return nested < 0 ? full : full.substring(0, nested);
    }

    /** The text with what is behind them in the place of numbered names of this class and of those within it. */
    private String named(String text, String outer) {
        String own = Pattern.quote(outer) + "(?:\\$[\\w$]+)?";
        String methods = "(" + own + ")\\.((?:lambda|access)\\$[\\w$]+)( ?)(\\([^)]*\\)[\\w/$;\\[]+)";
        String behind = replaced(text, methods, found -> behind(found.group(1), found.group(2), found.group(4)));
        return replaced(behind, Pattern.quote(outer) + "(?:\\$[A-Za-z_]\\w*)*\\$\\d+\\b", found -> whole(found.group()));
    }

    private interface Meaning {
        String of(Matcher found) throws IOException;
    }

    private static String replaced(String text, String pattern, Meaning meaning) {
        return Pattern.compile(pattern).matcher(text).replaceAll(found -> {
            try {
                return Matcher.quoteReplacement(meaning.of((Matcher) found));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
    }

    private String behind(String full, String name, String descriptor) throws IOException {
        ClassNode owner = jars.find(full);
        for (MethodNode method : owner == null ? Set.<MethodNode>of() : Set.copyOf(owner.methods)) {
            if (method.name.equals(name) && method.desc.equals(descriptor)) {
                return "made-" + digest(owner, method);
            }
        }
        return "made";
    }

    /** All that a class does that has a number for its name. */
    private String whole(String full) throws IOException {
        String known = digests.get(full);
        if (known == null) {
            digests.put(full, "itself");
            ClassNode owner = jars.find(full);
            Map<String, String> all = new LinkedHashMap<>();
            if (owner != null) {
                for (MethodNode method : owner.methods) {
                    if (!isMade(method.name)) {
                        all.put(method.name + named(method.desc, outer(full)), digest(owner, method));
                    }
                }
                all.put("of", owner.superName + owner.interfaces);
            }
            known = "numbered-" + digest(all.toString());
            digests.put(full, known);
        }
        return known;
    }

    /** The methods of this class that a method calls, or that its lambdas and anonymous classes do. */
    private void called(ClassNode owner, MethodNode method, Set<String> calls, Set<String> seen) throws IOException {
        if (!seen.add(owner.name + "." + method.name + method.desc)) {
            return;
        }
        for (AbstractInsnNode each : method.instructions) {
            if (each instanceof MethodInsnNode call) {
                meets(call.owner, call.name, call.desc, calls, seen);
            } else if (each instanceof InvokeDynamicInsnNode dynamic) {
                for (Object argument : dynamic.bsmArgs) {
                    if (argument instanceof Handle handle) {
                        meets(handle.getOwner(), handle.getName(), handle.getDesc(), calls, seen);
                    }
                }
            }
        }
    }

    private void meets(String owner, String name, String descriptor, Set<String> calls, Set<String> seen) throws IOException {
        if (owner.equals(of.name) && !isMade(name)) {
            calls.add(name + descriptor);
            return;
        }
        boolean within = outer(owner).equals(outer(of.name)) && (isMade(name) || isNumbered(owner));
        ClassNode other = within ? jars.find(owner) : null;
        if (other == null) {
            return;
        }
        for (MethodNode method : other.methods) {
            // a class without a name is made where it is used: all that it does belongs to who makes it
            if (method.name.equals(name) && method.desc.equals(descriptor) || isNumbered(owner)) {
                called(other, method, calls, seen);
            }
        }
    }

    private static String digest(String text) {
        try {
            byte[] sum = MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(sum, 0, 12);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }
}
