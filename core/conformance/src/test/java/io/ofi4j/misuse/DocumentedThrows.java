package io.ofi4j.misuse;

import com.sun.source.doctree.DocCommentTree;
import com.sun.source.doctree.DocTree;
import com.sun.source.doctree.ThrowsTree;
import com.sun.source.tree.ClassTree;
import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.MethodTree;
import com.sun.source.util.DocTreePath;
import com.sun.source.util.DocTrees;
import com.sun.source.util.JavacTask;
import com.sun.source.util.TreePath;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.annotation.processing.AbstractProcessor;
import javax.annotation.processing.RoundEnvironment;
import javax.lang.model.SourceVersion;
import javax.lang.model.element.Element;
import javax.lang.model.element.ExecutableElement;
import javax.lang.model.element.Modifier;
import javax.lang.model.element.ModuleElement;
import javax.lang.model.element.TypeElement;
import javax.lang.model.type.ArrayType;
import javax.lang.model.type.DeclaredType;
import javax.lang.model.type.TypeKind;
import javax.lang.model.type.TypeMirror;
import javax.lang.model.util.ElementFilter;
import javax.tools.JavaCompiler.CompilationTask;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/**
 * Every {@code @throws} of the public and protected members of exported packages, as javac reads it, and which of them
 * an exception shows: those of the members through which it came, by its stack trace. A comment that several classes
 * inherit counts once.
 */
final class DocumentedThrows {
    private static final String OWN = "io.ofi4j.";
    private static final List<String> TESTS = List.of("io.ofi4j.misuse.", "io.ofi4j.support.");

    private static final List<String> TESTS_OF_JUNIT = List.of("Test", "ParameterizedTest", "ForEachProvider");

    private final List<Documented> all;

    private DocumentedThrows(List<Documented> all) { this.all = all; }

    /** Lines of a method or constructor. */
    private record Body(String type, String name, long first, long last) {
        boolean has(StackTraceElement frame) {
            return frame.getClassName().equals(type) && frame.getMethodName().equals(name)
                    && frame.getLineNumber() >= first && frame.getLineNumber() <= last;
        }
    }

    /**
     * One {@code @throws}.
     *
     * @param key the member and the exception, as in {@code Endpoint.enable() IllegalStateException}
     * @param place file and line of the member
     * @param exception the exception's name
     * @param bodies of the member and of what overrides it
     */
    private record Documented(String key, String place, String exception, List<Body> bodies) {
        /** A subclass shows it only if it is the JDK's: the project's own are documented by name. */
        boolean isShownBy(Throwable thrown, List<StackTraceElement> frames) {
            Class<?> type = thrown.getClass();
            while (!type.getName().equals(exception)) {
                if (type.getName().startsWith(OWN) || type == Throwable.class) { return false; }
                type = type.getSuperclass();
            }
            return frames.stream().anyMatch(frame -> bodies.stream().anyMatch(body -> body.has(frame)));
        }
    }

    /** Reads the sources of modules: the folder of each, by its name. */
    static DocumentedThrows of(Map<String, Path> modules, String modulePath) throws IOException {
        List<String> options = new ArrayList<>(List.of("-proc:only", "-p", modulePath));
        List<Path> sources = new ArrayList<>();
        for (Map.Entry<String, Path> module : modules.entrySet()) {
            options.addAll(List.of("--module-source-path", module.getKey() + "=" + module.getValue()));
            try (Stream<Path> files = Files.walk(module.getValue())) {
                files.filter(file -> file.toString().endsWith(".java")).forEach(sources::add);
            }
        }
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        Reader reader = new Reader();
        StringWriter messages = new StringWriter();
        try (StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null)) {
            CompilationTask task = compiler.getTask(messages, files, null, options, null,
                    files.getJavaFileObjectsFromPaths(sources));
            task.setProcessors(List.of(reader));
            if (!task.call()) { throw new AssertionError(messages.toString()); }
        }
        return new DocumentedThrows(List.copyOf(reader.found.values()));
    }

    /** The keys of all, sorted. */
    List<String> keys() { return all.stream().map(Documented::key).toList(); }

    /** The keys of those that an exception shows, which a test's code has caught. */
    Set<String> shownBy(Throwable thrown) {
        List<StackTraceElement> frames = Stream.of(thrown.getStackTrace()).takeWhile(frame -> !isOfTests(frame))
                .toList();
        Set<String> shown = all.stream().filter(one -> one.isShownBy(thrown, frames)).map(Documented::key)
                .collect(Collectors.toCollection(LinkedHashSet::new));
        // what a test has wrapped, for a lambda throws nothing checked
        if (frames.isEmpty() && thrown.getCause() != null) { shown.addAll(shownBy(thrown.getCause())); }
        return shown;
    }

    private static boolean isOfTests(StackTraceElement frame) {
        return TESTS.stream().anyMatch(frame.getClassName()::startsWith);
    }

    /** Where a {@code @throws} stands. */
    String place(String key) {
        return all.stream().filter(one -> one.key.equals(key)).map(Documented::place).findFirst().orElseThrow();
    }

    /** Whether a class of tests has a test of this name. */
    static boolean hasMethod(Path source, String name) {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        try (StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null)) {
            JavacTask task = (JavacTask) compiler.getTask(null, files, null, List.of(), null,
                    files.getJavaFileObjects(source));
            return Stream.of(task.parse().iterator().next()).flatMap(unit -> unit.getTypeDecls().stream())
                    .flatMap(type -> ((ClassTree) type).getMembers().stream())
                    .anyMatch(member -> member instanceof MethodTree method && method.getName().contentEquals(name)
                            && method.getModifiers().getAnnotations().stream()
                                    .anyMatch(one -> TESTS_OF_JUNIT.contains(one.getAnnotationType().toString())));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** An annotation processor sees every declaration before bodies are compiled, which takes most of the time. */
    private static final class Reader extends AbstractProcessor {
        private final Map<String, Documented> found = new TreeMap<>();
        private final List<TypeElement> types = new ArrayList<>();
        private final Map<String, List<ExecutableElement>> methods = new HashMap<>();
        private DocTrees trees;

        @Override
        public Set<String> getSupportedAnnotationTypes() { return Set.of("*"); }

        @Override
        public SourceVersion getSupportedSourceVersion() { return SourceVersion.latest(); }

        @Override
        public boolean process(Set<? extends TypeElement> annotations, RoundEnvironment round) {
            if (round.processingOver()) { return false; }
            trees = DocTrees.instance(processingEnv);
            addTypes(ElementFilter.typesIn(round.getRootElements()));
            Set<ExecutableElement> members = new LinkedHashSet<>();
            types.stream().filter(this::isExported).forEach(type -> addMembers(type, members));
            members.forEach(this::read);
            return false;
        }

        private void addTypes(Iterable<TypeElement> some) {
            for (TypeElement type : some) {
                types.add(type);
                ElementFilter.methodsIn(type.getEnclosedElements()).forEach(method -> methods
                        .computeIfAbsent(method.getSimpleName().toString(), name -> new ArrayList<>()).add(method));
                addTypes(ElementFilter.typesIn(type.getEnclosedElements()));
            }
        }

        private boolean isExported(TypeElement type) {
            Element package_ = processingEnv.getElementUtils().getPackageOf(type);
            ModuleElement module = (ModuleElement) package_.getEnclosingElement();
            return isVisible(type) && ElementFilter.exportsIn(module.getDirectives()).stream()
                    .anyMatch(exports -> exports.getPackage().equals(package_) && exports.getTargetModules() == null);
        }

        private static boolean isVisible(Element element) {
            boolean visible = element.getModifiers().contains(Modifier.PUBLIC)
                    || element.getModifiers().contains(Modifier.PROTECTED);
            return visible && (!(element.getEnclosingElement() instanceof TypeElement outer) || isVisible(outer));
        }

        /** Those too that come from a superclass which is not public. */
        private void addMembers(TypeElement type, Set<ExecutableElement> members) {
            List<? extends Element> elements = processingEnv.getElementUtils().getAllMembers(type);
            Stream.concat(ElementFilter.constructorsIn(elements).stream(), ElementFilter.methodsIn(elements).stream())
                    .filter(member -> member.getModifiers().contains(Modifier.PUBLIC)
                            || member.getModifiers().contains(Modifier.PROTECTED))
                    .forEach(members::add);
        }

        private void read(ExecutableElement member) {
            TreePath path = trees.getPath(member);
            DocCommentTree comment = path == null ? null : trees.getDocCommentTree(path);
            if (comment == null) { return; }
            for (DocTree tag : comment.getBlockTags()) {
                if (tag instanceof ThrowsTree thrown) {
                    DocTreePath name = new DocTreePath(new DocTreePath(path, comment), thrown.getExceptionName());
                    add(member, (TypeElement) trees.getElement(name));
                }
            }
        }

        private void add(ExecutableElement member, TypeElement exception) {
            TypeElement owner = (TypeElement) member.getEnclosingElement();
            boolean constructor = member.getSimpleName().contentEquals("<init>");
            String parameters = member.getParameters().stream().map(one -> name(one.asType()))
                    .collect(Collectors.joining(", "));
            String key = name(owner) + (constructor ? "" : "." + member.getSimpleName()) + "(" + parameters + ") "
                    + exception.getSimpleName();
            List<Body> bodies = methods.getOrDefault(member.getSimpleName().toString(), List.of()).stream()
                    .filter(other -> processingEnv.getElementUtils().overrides(other, member,
                            (TypeElement) other.getEnclosingElement()))
                    .map(this::body).collect(Collectors.toCollection(ArrayList::new));
            bodies.add(body(member));
            TreePath path = trees.getPath(member);
            String place = Path.of(path.getCompilationUnit().getSourceFile().getName()).getFileName() + ":"
                    + body(member).first;
            Documented same = found.put(key, new Documented(key, place, nameOf(exception), bodies));
            if (same != null) { throw new AssertionError(key + " twice: " + same.place + " and " + place); }
        }

        private Body body(ExecutableElement member) {
            TreePath path = trees.getPath(member);
            CompilationUnitTree unit = path.getCompilationUnit();
            long first = trees.getSourcePositions().getStartPosition(unit, path.getLeaf());
            long last = trees.getSourcePositions().getEndPosition(unit, path.getLeaf());
            return new Body(nameOf((TypeElement) member.getEnclosingElement()), member.getSimpleName().toString(),
                    unit.getLineMap().getLineNumber(first), unit.getLineMap().getLineNumber(last));
        }

        private String nameOf(TypeElement type) {
            return processingEnv.getElementUtils().getBinaryName(type).toString();
        }

        /** With the types around it, without the package. */
        private static String name(TypeElement type) {
            return type.getEnclosingElement() instanceof TypeElement outer
                    ? name(outer) + "." + type.getSimpleName()
                    : type.getSimpleName().toString();
        }

        private static String name(TypeMirror type) {
            if (type instanceof ArrayType array) { return name(array.getComponentType()) + "[]"; }
            return type.getKind() == TypeKind.DECLARED
                    ? name((TypeElement) ((DeclaredType) type).asElement())
                    : type.toString();
        }
    }
}
