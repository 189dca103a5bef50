/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.control;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Arrays;
import java.util.regex.Pattern;

/**
 * Processor time in nanoseconds, which other work on the machine changes far less than it changes times.
 *
 * @param streamThread stream threads of the application
 * @param jvm this process, the stream threads, the collector, the compiler and the benchmark included
 * @param broker the broker's process; 0 for a cluster of the user
 */
record CpuTimes(long streamThread, long jvm, long broker) {
    static final CpuTimes NONE = new CpuTimes(0, 0, 0);

    private static final Pattern STREAM_THREAD = Pattern.compile("-StreamThread-[0-9]+$");

    /** So far; the threads of the application are those whose names begin with its id. */
    static CpuTimes now(String application, Environment environment) {
        long jvm = ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class).getProcessCpuTime();
        return new CpuTimes(streamThreads(application), jvm, environment.brokerCpuNanos());
    }

    CpuTimes plus(CpuTimes other) {
        return new CpuTimes(streamThread + other.streamThread, jvm + other.jvm, broker + other.broker);
    }

    CpuTimes minus(CpuTimes other) {
        return new CpuTimes(streamThread - other.streamThread, jvm - other.jvm, broker - other.broker);
    }

    private static long streamThreads(String application) {
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        return Arrays.stream(threads.getThreadInfo(threads.getAllThreadIds()))
                .filter(thread -> thread != null && isStreamThread(thread.getThreadName(), application))
                .mapToLong(thread -> threads.getThreadCpuTime(thread.getThreadId()))
                .sum();
    }

    static boolean isStreamThread(String thread, String application) {
        return thread.startsWith(application + "-") && STREAM_THREAD.matcher(thread).find();
    }
}
