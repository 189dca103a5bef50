/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A CUDA driver over host memory, for tests: the calls that the device port makes, with the types of the driver's binary interface.
 *
 * What it is good for: bytes move when a stream is drained (synchronised or polled) and not at the call, and only in the stream that is
 * drained, so a missing wait leaves wrong bytes; device addresses are not host addresses, so swapped arguments fail; what a real driver
 * forgives or answers with a crash (unpinned host memory, memory freed under a copy) is written down as a violation.
 * What it is not: a model of speed, of more than one GPU, or of the default stream.
 */
#ifndef TIERLOG_FAKE_CUDA_H
#define TIERLOG_FAKE_CUDA_H

#include <stddef.h>
#include <stdint.h>

enum {
    SUCCESS = 0,
    INVALID_VALUE = 1,
    OUT_OF_MEMORY = 2,
    NOT_INITIALIZED = 3,
    INVALID_DEVICE = 101,
    INVALID_CONTEXT = 201,
    MAPPING_FAILED = 205,
    INVALID_PTX = 218,
    INVALID_HANDLE = 400,
    NOT_FOUND = 500,
    NOT_READY = 600,
    ILLEGAL_ADDRESS = 700,
    CONTEXT_IS_DESTROYED = 709,
    ALREADY_REGISTERED = 712,
    NOT_REGISTERED = 713,
    MISALIGNED_ADDRESS = 716,
    LAUNCH_FAILED = 719
};

/* A program: the text of a PTX module, read once. */
struct program;

/* How a running program reaches memory: the host address of `bytes` bytes at a device address, or NULL. */
typedef char *(*resolver)(uint64_t address, size_t bytes);

/* Reads a module; NULL when the interpreter does not understand it (the reason goes to standard error). */
struct program *program_read(const char *text);

/* The number of parameters of entry `name`, or -1 when there is no such entry. */
int program_parameters(const struct program *program, const char *name);

/* The number of parameters of the one entry. */
int program_parameter_count(const struct program *program);

/* The width in bytes of parameter `index`. */
int program_parameter_bytes(const struct program *program, int index);

/* Runs every thread of a grid, one after the other; returns a CUresult. */
int program_run(const struct program *program, const uint64_t *parameters, unsigned grid, unsigned block, resolver memory);

#endif
