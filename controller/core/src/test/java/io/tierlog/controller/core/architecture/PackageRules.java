/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.architecture;

import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.library.dependencies.SliceAssignment;
import com.tngtech.archunit.library.dependencies.SliceIdentifier;
import com.tngtech.archunit.library.dependencies.SlicesRuleDefinition;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;

/** Rules about the packages below one root, the root among them. Without state. */
final class PackageRules {
    private PackageRules() {}

    /** No package below {@code root} depends on itself by way of others: each package is one slice. */
    static ArchRule noCycles(String root) {
        return SlicesRuleDefinition.slices()
                .assignedFrom(new SliceAssignment() {
                    @Override
                    public SliceIdentifier getIdentifierOf(JavaClass type) {
                        return isBelow(root, type) ? SliceIdentifier.of(type.getPackageName()) : SliceIdentifier.ignore();
                    }

                    @Override
                    public String getDescription() {
                        return "packages of " + root;
                    }
                })
                .should()
                .beFreeOfCycles();
    }

    /** What each package below {@code root} depends on there, by names relative to it; the root is the empty text. */
    static SortedMap<String, SortedSet<String>> dependencies(JavaClasses classes, String root) {
        SortedMap<String, SortedSet<String>> found = new TreeMap<>();
        for (JavaClass type : classes) {
            if (isBelow(root, type)) {
                SortedSet<String> targets = found.computeIfAbsent(relative(root, type), p -> new TreeSet<>());
                for (Dependency dependency : type.getDirectDependenciesFromSelf()) {
                    JavaClass target = dependency.getTargetClass().getBaseComponentType();
                    if (isBelow(root, target) && !target.getPackageName().equals(type.getPackageName())) {
                        targets.add(relative(root, target));
                    }
                }
            }
        }
        return found;
    }

    private static boolean isBelow(String root, JavaClass type) {
        return type.getPackageName().equals(root) || type.getPackageName().startsWith(root + ".");
    }

    private static String relative(String root, JavaClass type) {
        return type.getPackageName().equals(root) ? "" : type.getPackageName().substring(root.length() + 1);
    }
}
