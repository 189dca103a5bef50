/* SPDX-License-Identifier: Apache-2.0 */
/* What the fake driver keeps: objects, streams of operations, and the book of calls. One lock around everything. */
#ifndef TIERLOG_FAKE_STATE_H
#define TIERLOG_FAKE_STATE_H

#include "fake_cuda.h"

/* Added to a host address to make the device's address of pinned host memory. */
#define HOST_TAG 0x1000000000000000ULL
#define MAX_PARAMETERS 8

enum kind { CONTEXT, STREAM, EVENT, MEMORY, PINNED, IPC, MODULE, KINDS };
enum op_kind { COPY, RECORD, WAIT, LAUNCH };

/* Everything that has a handle. Objects are never freed, so a handle that is used too late is seen and not followed. */
struct object {
    int kind;
    int id;
    int alive;
    struct context *context;
    struct object *next;
};

struct context {
    struct object o;
    int broken; /* the error that every later call answers, or 0 */
};

struct event {
    struct object o;
    struct stream *stream;
    uint64_t recorded;
    uint64_t done;
};

struct memory {
    struct object o;
    uint64_t device; /* 0: no device address */
    char *host;
    size_t bytes;
    int fd;
    int32_t pid; /* of the process that owns it, for imported memory */
    uint64_t inode;
    int references;
};

struct module {
    struct object o;
    struct program *program;
};

/* One side of a copy is a host address, the other a device address. */
struct copy {
    char *dst_host;
    uint64_t dst;
    char *src_host;
    uint64_t src;
    size_t dst_pitch, src_pitch, width, height;
};

struct op {
    enum op_kind kind;
    struct op *next;
    struct copy copy;
    struct event *event;
    uint64_t mark;
    const struct program *program;
    unsigned grid, block;
    uint64_t parameters[MAX_PARAMETERS];
};

struct stream {
    struct object o;
    struct op *first;
    struct op *last;
};

struct fake {
    int initialised;
    int ignore_waits;
    long passing; /* operations that may still run, or -1 for all */
    int held;     /* threads that wait because none may */
    uint64_t next_address;
    struct object *objects;
    int ids;
    /* injected: the nth call of a name from now on (before or after its effect), and the nth operation that runs */
    char fail_name[48];
    long fail_in;
    int fail_code;
    int fail_after;
    long fail_op_in;
    int fail_op_code;
};

extern struct fake fake;
extern _Thread_local struct context *current;

/* Writes the call down and counts it. Returns the code it shall answer at once, or 0. Takes the lock. */
int enter(const char *name, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Gives the lock back; returns what the call answers. */
int leave(int rc);
int check_context(void);

#define BEGIN(...)                                                                                                                      \
    int rc = enter(__func__, " " __VA_ARGS__);                                                                                          \
    if (rc) {                                                                                                                           \
        return leave(rc);                                                                                                               \
    }
#define IN_CONTEXT()                                                                                                                    \
    if ((rc = check_context())) {                                                                                                       \
        return leave(rc);                                                                                                               \
    }
#define END(code) return leave(code)

void *add(int kind, size_t bytes, struct context *context);
int alive(const void *object, int kind);
int id_of(const void *object);
void violation(const char *format, ...) __attribute__((format(printf, 1, 2)));
const char *address_name(uint64_t device);
const char *host_name(const char *host);

struct memory *memory_at(uint64_t device, size_t bytes);
struct memory *pinned_at(const char *host, size_t bytes);
/* The host address of device memory of any sort; NULL when it is not all there. */
char *resolve(uint64_t device, size_t bytes);
void release_memory(struct memory *memory, const char *how);

struct op *append(struct stream *stream, enum op_kind kind);
int queue_copy(struct stream *stream, const struct copy *copy);
/* Runs one operation if it may run; returns 0 or the error it ended with. */
int step(struct stream *stream);
/* Runs all operations, or those up to the event's mark; waits while they are held. */
int drain(struct stream *stream, struct event *until);
void drop_stream(struct stream *stream);
void drop_context(struct context *context);

#endif
