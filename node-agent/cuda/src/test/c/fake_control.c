/* SPDX-License-Identifier: Apache-2.0 */
/* The book of calls, and the functions with which tests steer the driver. None of them exists in a real one. */
#include "fake_state.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BOOK_BYTES (4u << 20)
#define MAX_CALLS 64

pthread_mutex_t fake_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t fake_released = PTHREAD_COND_INITIALIZER;

static _Thread_local int answer_after;
static char book[BOOK_BYTES];
static size_t book_length;
static char violations[1 << 16];
static size_t violations_length;
static struct {
    const char *name;
    long count;
} calls[MAX_CALLS];

/* FAKE_CUDA_FAIL=name:nth:code, for drivers that no test can steer because they run in another process. */
static void read_environment(void) {
    static int read;
    const char *spec = read++ ? NULL : getenv("FAKE_CUDA_FAIL");
    if (spec && sscanf(spec, "%47[^:]:%ld:%d", fake.fail_name, &fake.fail_in, &fake.fail_code) != 3) {
        fprintf(stderr, "fake libcuda: FAKE_CUDA_FAIL=%s is not name:nth:code\n", spec);
        abort();
    }
}

static void count(const char *name) {
    for (int i = 0; i < MAX_CALLS; i++) {
        if (!calls[i].name || !strcmp(calls[i].name, name)) {
            calls[i].name = name;
            calls[i].count++;
            return;
        }
    }
}

/*
 * The names of addresses in a call's text are looked up before the lock is taken: objects are only ever added in front and never freed, so
 * the worst that a race does is a wrong name in the book.
 */
int enter(const char *name, const char *format, ...) {
    pthread_mutex_lock(&fake_lock);
    read_environment();
    count(name);
    if (book_length + 512 < BOOK_BYTES) {
        va_list arguments;
        va_start(arguments, format);
        book_length += (size_t)snprintf(book + book_length, 64, "%s", name);
        book_length += (size_t)vsnprintf(book + book_length, 400, format, arguments);
        book[book_length++] = '\n';
        va_end(arguments);
    }
    answer_after = 0;
    if (fake.fail_in > 0 && !strcmp(fake.fail_name, name) && --fake.fail_in == 0) {
        if (fake.fail_after) {
            answer_after = fake.fail_code;
        } else {
            return fake.fail_code;
        }
    }
    return 0;
}

int leave(int rc) {
    int answer = answer_after ? answer_after : rc;
    pthread_mutex_unlock(&fake_lock);
    return answer;
}

void violation(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    if (violations_length + 256 < sizeof violations) {
        violations_length += (size_t)vsnprintf(violations + violations_length, 200, format, arguments);
        violations[violations_length++] = '\n';
    }
    va_end(arguments);
}

static char *next_name(void) {
    static _Thread_local char names[8][48];
    static _Thread_local unsigned turn;
    return names[turn++ % 8];
}

const char *address_name(uint64_t device) {
    char *name = next_name();
    struct memory *m = memory_at(device, 1);
    if (m) {
        snprintf(name, 48, "device%d+%llu", m->o.id, (unsigned long long)(device - m->device));
    } else {
        snprintf(name, 48, "unknown");
    }
    return name;
}

const char *host_name(const char *host) {
    char *name = next_name();
    struct memory *m = pinned_at(host, 1);
    if (m) {
        snprintf(name, 48, "host%d+%llu", m->o.id, (unsigned long long)(host - m->host));
    } else {
        snprintf(name, 48, "unpinned");
    }
    return name;
}

/* The nth call of name from now on, 1 for the next, answers code: without effect, or after it. */
void fake_fail_at(const char *name, long nth, int code, int after) {
    pthread_mutex_lock(&fake_lock);
    snprintf(fake.fail_name, sizeof fake.fail_name, "%s", name);
    fake.fail_in = nth;
    fake.fail_code = code;
    fake.fail_after = after;
    pthread_mutex_unlock(&fake_lock);
}

/* 1 while an injected failure has not happened yet. */
int fake_fails_later(void) {
    return fake.fail_in > 0 || fake.fail_op_in > 0;
}

/* The nth copy or kernel that runs from now on fails with code and breaks its context. */
void fake_fail_op(long nth, int code) {
    pthread_mutex_lock(&fake_lock);
    fake.fail_op_in = nth;
    fake.fail_op_code = code;
    pthread_mutex_unlock(&fake_lock);
}

/* Lets so many copies and kernels run and holds the next; -1 lets all run. */
void fake_pass(long operations) {
    pthread_mutex_lock(&fake_lock);
    fake.passing = operations;
    pthread_cond_broadcast(&fake_released);
    pthread_mutex_unlock(&fake_lock);
}

/* Threads that stand in a wait because nothing may run. */
int fake_held(void) {
    pthread_mutex_lock(&fake_lock);
    int held = fake.held;
    pthread_mutex_unlock(&fake_lock);
    return held;
}

/* Waits and looks answer at once as if all had ended: what code without a wait would see. */
void fake_ignore_waits(int on) {
    pthread_mutex_lock(&fake_lock);
    fake.ignore_waits = on;
    pthread_mutex_unlock(&fake_lock);
}

/* Operations that have been queued and have not run. */
long fake_pending(void) {
    pthread_mutex_lock(&fake_lock);
    long pending = 0;
    for (struct object *o = fake.objects; o; o = o->next) {
        for (struct op *op = o->kind == STREAM && o->alive ? ((struct stream *)o)->first : NULL; op; op = op->next) {
            pending++;
        }
    }
    pthread_mutex_unlock(&fake_lock);
    return pending;
}

/* Objects of a kind that are alive: 0 contexts, 1 streams, 2 events, 3 memory, 4 pinned, 5 imported, 6 modules. */
int fake_alive(int kind) {
    pthread_mutex_lock(&fake_lock);
    int alive = 0;
    for (struct object *o = fake.objects; o; o = o->next) {
        alive += o->kind == kind && o->alive;
    }
    pthread_mutex_unlock(&fake_lock);
    return alive;
}

/* How often name has been called since the last reset. */
long fake_count(const char *name) {
    pthread_mutex_lock(&fake_lock);
    long found = 0;
    for (int i = 0; i < MAX_CALLS && calls[i].name; i++) {
        found += strcmp(calls[i].name, name) ? 0 : calls[i].count;
    }
    pthread_mutex_unlock(&fake_lock);
    return found;
}

static long copy_out(const char *from, size_t length, char *out, size_t size) {
    size_t fits = length < size ? length : size;
    memcpy(out, from, fits);
    return (long)fits;
}

/* The calls since the last reset, one a line, in order. Returns the bytes written. */
long fake_book(char *out, long size) {
    pthread_mutex_lock(&fake_lock);
    long length = copy_out(book, book_length, out, (size_t)size);
    pthread_mutex_unlock(&fake_lock);
    return length;
}

/* What a real driver might have forgiven, one a line. Returns the bytes written. */
long fake_violations(char *out, long size) {
    pthread_mutex_lock(&fake_lock);
    long length = copy_out(violations, violations_length, out, (size_t)size);
    pthread_mutex_unlock(&fake_lock);
    return length;
}

/* Ends every context, forgets calls, violations and injections. */
void fake_reset(void) {
    pthread_mutex_lock(&fake_lock);
    for (struct object *o = fake.objects; o; o = o->next) {
        if (o->kind == CONTEXT && o->alive) {
            drop_context((struct context *)o);
        }
    }
    fake.fail_in = fake.fail_op_in = 0;
    fake.fail_after = 0;
    fake.passing = -1;
    fake.ignore_waits = 0;
    pthread_cond_broadcast(&fake_released);
    book_length = violations_length = 0;
    memset(calls, 0, sizeof calls);
    pthread_mutex_unlock(&fake_lock);
}
