/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <pthread.h>

extern pthread_mutex_t fake_lock;
extern pthread_cond_t fake_released;

struct fake fake = {.passing = -1, .next_address = 0x7e0000000000ULL};
_Thread_local struct context *current;

void *add(int kind, size_t bytes, struct context *context) {
    struct object *o = calloc(1, bytes);
    o->kind = kind;
    o->id = ++fake.ids;
    o->alive = 1;
    o->context = context;
    o->next = fake.objects;
    fake.objects = o;
    return o;
}

int alive(const void *object, int kind) {
    for (struct object *o = fake.objects; o; o = o->next) {
        if (o == object) {
            return o->alive && o->kind == kind && (kind == CONTEXT || o->context == current);
        }
    }
    return 0;
}

int id_of(const void *object) {
    for (struct object *o = fake.objects; o; o = o->next) {
        if (o == object) {
            return o->id;
        }
    }
    return -1;
}

int check_context(void) {
    if (!current) {
        return INVALID_CONTEXT;
    }
    return current->o.alive ? current->broken : CONTEXT_IS_DESTROYED;
}

struct memory *memory_at(uint64_t device, size_t bytes) {
    for (struct object *o = fake.objects; o; o = o->next) {
        struct memory *m = (struct memory *)o;
        if ((o->kind == MEMORY || o->kind == IPC || o->kind == PINNED) && o->alive && o->context == current && m->device
            && device >= m->device && bytes <= m->bytes && device - m->device <= m->bytes - bytes) {
            return m;
        }
    }
    return NULL;
}

struct memory *pinned_at(const char *host, size_t bytes) {
    for (struct object *o = fake.objects; o; o = o->next) {
        struct memory *m = (struct memory *)o;
        if (o->kind == PINNED && o->alive && o->context == current && host >= m->host && bytes <= m->bytes
            && (size_t)(host - m->host) <= m->bytes - bytes) {
            return m;
        }
    }
    return NULL;
}

char *resolve(uint64_t device, size_t bytes) {
    struct memory *m = memory_at(device, bytes);
    return m ? m->host + (device - m->device) : NULL;
}

static int touches(const struct copy *c, const struct memory *m) {
    const char *host = c->dst_host ? c->dst_host : c->src_host;
    uint64_t device = c->dst_host ? c->src : c->dst;
    return m->o.kind == PINNED ? host >= m->host && host < m->host + m->bytes : device >= m->device && device < m->device + m->bytes;
}

void release_memory(struct memory *memory, const char *how) {
    for (struct object *o = fake.objects; o; o = o->next) {
        for (struct op *op = o->kind == STREAM && o->alive ? ((struct stream *)o)->first : NULL; op; op = op->next) {
            if (op->kind == LAUNCH || (op->kind == COPY && touches(&op->copy, memory))) {
                violation("memory %d %s under a copy of stream %d", memory->o.id, how, o->id);
            }
        }
    }
    if (memory->o.kind == IPC && --memory->references > 0) {
        return;
    }
    memory->o.alive = 0;
    if (memory->o.kind != PINNED) {
        munmap(memory->host, memory->bytes);
        close(memory->fd);
    }
}

struct op *append(struct stream *stream, enum op_kind kind) {
    struct op *op = calloc(1, sizeof *op);
    op->kind = kind;
    *(stream->last ? &stream->last->next : &stream->first) = op;
    stream->last = op;
    return op;
}

static size_t span(size_t pitch, size_t width, size_t height) {
    return (height - 1) * pitch + width;
}

int queue_copy(struct stream *stream, const struct copy *c) {
    if (!alive(stream, STREAM)) {
        return INVALID_HANDLE;
    }
    const char *host = c->dst_host ? c->dst_host : c->src_host;
    size_t host_span = span(c->dst_host ? c->dst_pitch : c->src_pitch, c->width, c->height);
    size_t device_span = span(c->dst_host ? c->src_pitch : c->dst_pitch, c->width, c->height);
    struct memory *m = memory_at(c->dst_host ? c->src : c->dst, device_span);
    if (!host || !c->width || !c->height || !m || m->o.kind == PINNED) {
        return INVALID_VALUE;
    }
    if (!pinned_at(host, host_span)) {
        violation("an asynchronous copy of host memory that is not pinned");
    }
    append(stream, COPY)->copy = *c;
    return SUCCESS;
}

static int run_copy(const struct copy *c) {
    for (size_t row = 0; row < c->height; row++) {
        char *dst = c->dst_host ? c->dst_host + row * c->dst_pitch : resolve(c->dst + row * c->dst_pitch, c->width);
        const char *src = c->src_host ? c->src_host + row * c->src_pitch : resolve(c->src + row * c->src_pitch, c->width);
        if (!dst || !src) {
            return ILLEGAL_ADDRESS;
        }
        memcpy(dst, src, c->width);
    }
    return SUCCESS;
}

static int run(struct op *op) {
    if (fake.fail_op_in > 0 && (op->kind == COPY || op->kind == LAUNCH) && --fake.fail_op_in == 0) {
        return fake.fail_op_code;
    }
    switch (op->kind) {
    case COPY:
        return run_copy(&op->copy);
    case LAUNCH:
        return program_run(op->program, op->parameters, op->grid, op->block, resolve);
    case RECORD:
        op->event->done = op->mark;
        return SUCCESS;
    case WAIT:
        return op->event->stream ? drain(op->event->stream, op->event) : SUCCESS;
    }
    return INVALID_VALUE;
}

int step(struct stream *stream) {
    struct op *op = stream->first;
    if (!op || current->broken) {
        return current->broken;
    }
    int moves = op->kind == COPY || op->kind == LAUNCH;
    if (moves && fake.passing == 0) {
        return SUCCESS;
    }
    if (moves && fake.passing > 0) {
        fake.passing--;
    }
    stream->first = op->next;
    if (!stream->first) {
        stream->last = NULL;
    }
    int rc = run(op);
    free(op);
    /* An operation that fails while it runs takes the whole context with it, as on a GPU. */
    current->broken = rc;
    return rc;
}

static int is_done(const struct stream *stream, const struct event *until) {
    return until ? until->done >= until->recorded : !stream->first;
}

int drain(struct stream *stream, struct event *until) {
    while (!fake.ignore_waits && !is_done(stream, until)) {
        int may_move = fake.passing != 0 || !stream->first || stream->first->kind == RECORD;
        if (!may_move) {
            fake.held++;
            pthread_cond_wait(&fake_released, &fake_lock);
            fake.held--;
            continue;
        }
        int rc = step(stream);
        if (rc) {
            return rc;
        }
    }
    return SUCCESS;
}

void drop_stream(struct stream *stream) {
    while (stream->first) {
        struct op *op = stream->first;
        stream->first = op->next;
        free(op);
    }
    stream->last = NULL;
    stream->o.alive = 0;
}

void drop_context(struct context *context) {
    for (struct object *o = fake.objects; o; o = o->next) {
        if (o->context != context || !o->alive) {
            continue;
        }
        if (o->kind == STREAM) {
            if (((struct stream *)o)->first && !context->broken) {
                violation("context %d destroyed with copies under way in stream %d", context->o.id, o->id);
            }
            drop_stream((struct stream *)o);
        }
    }
    for (struct object *o = fake.objects; o; o = o->next) {
        if (o->context == context && o->alive && (o->kind == MEMORY || o->kind == IPC || o->kind == PINNED)) {
            ((struct memory *)o)->references = 0;
            release_memory((struct memory *)o, "dropped");
        }
        if (o->context == context) {
            o->alive = 0;
        }
    }
    context->o.alive = 0;
    if (current == context) {
        current = NULL;
    }
}
