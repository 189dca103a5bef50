/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.cuda;

/**
 * What bounds a {@link CudaMemory}.
 *
 * @param allocations slabs and engine allocations that are open at a time; more are refused with OUT_OF_MEMORY
 * @param gatherPieces descriptors of 24 bytes per stream that may be under way; fragments beyond that go as single copies
 * @param gatherBlocks thread blocks of one gather; more move bytes faster and take more of the GPU from decoding
 * @param gatherThreads threads of a block, a multiple of 32 up to 1,024
 * @param looks looks at an event in a row before the thread sleeps between them
 */
public record CudaLimits(int allocations, int gatherPieces, int gatherBlocks, int gatherThreads, int looks) {
    /**
     * 65,536 allocations, 16,384 pieces (384 KiB per stream), 64 blocks of 256 threads, 200 looks (about 50 µs). The blocks have not been
     * measured on a GPU.
     */
    public static final CudaLimits DEFAULTS = new CudaLimits(65_536, 16_384, 64, 256, 200);

    private static final int WARP_THREADS = 32;
    private static final int MOST_THREADS = 1_024;

    public CudaLimits {
        if (allocations < 1 || gatherPieces < 1 || gatherBlocks < 1 || looks < 0) {
            throw new IllegalArgumentException("CUDA limits: allocations " + allocations + ", gatherPieces " + gatherPieces
                    + " and gatherBlocks " + gatherBlocks + " are 1 or more, looks " + looks + " is 0 or more");
        }
        if (gatherThreads < WARP_THREADS || gatherThreads > MOST_THREADS || gatherThreads % WARP_THREADS != 0) {
            throw new IllegalArgumentException("CUDA limits: gatherThreads " + gatherThreads + " is not a multiple of 32 from 32 to 1,024");
        }
    }

    /** A copy with another bound on descriptors under way. */
    public CudaLimits withGatherPieces(int pieces) {
        return new CudaLimits(allocations, pieces, gatherBlocks, gatherThreads, looks);
    }
}
