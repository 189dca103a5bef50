/* SPDX-License-Identifier: Apache-2.0 */
/* The driver calls. See fake_cuda.h for what this is; fake_state.h for what it keeps; fake_control.c for how tests steer it. */
#include "fake_state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define IPC_MAGIC 0x7461626c65746f6eULL

/* What the 64 bytes of a handle hold here: enough to map the same memory from another process of the same user. */
struct ipc_handle {
    uint64_t magic;
    int32_t pid;
    int32_t fd;
    uint64_t bytes;
    uint64_t inode;
    char rest[32];
};

struct memcpy2d {
    size_t src_x, src_y;
    int src_type;
    const char *src_host;
    uint64_t src_device;
    void *src_array;
    size_t src_pitch;
    size_t dst_x, dst_y;
    int dst_type;
    char *dst_host;
    uint64_t dst_device;
    void *dst_array;
    size_t dst_pitch;
    size_t width, height;
};

int cuInit(unsigned flags) {
    BEGIN("flags=%u", flags);
    fake.initialised = 1;
    END(flags ? INVALID_VALUE : SUCCESS);
}

int cuDriverGetVersion(int *version) {
    BEGIN("");
    *version = 12060;
    END(SUCCESS);
}

int cuDeviceGetCount(int *count) {
    BEGIN("");
    *count = 1;
    END(fake.initialised ? SUCCESS : NOT_INITIALIZED);
}

int cuDeviceGet(int *device, int ordinal) {
    BEGIN("ordinal=%d", ordinal);
    *device = ordinal;
    END(!fake.initialised ? NOT_INITIALIZED : ordinal ? INVALID_DEVICE : SUCCESS);
}

int cuDeviceGetName(char *name, int length, int device) {
    BEGIN("device=%d", device);
    snprintf(name, (size_t)length, "Fake GPU of the tests");
    END(SUCCESS);
}

int cuDeviceTotalMem_v2(size_t *bytes, int device) {
    BEGIN("device=%d", device);
    *bytes = (size_t)8 << 30;
    END(SUCCESS);
}

int cuDeviceGetAttribute(int *value, int attribute, int device) {
    BEGIN("attribute=%d device=%d", attribute, device);
    /* 11 largest pitch, 16 multiprocessors, 19 can map host memory, 41 unified addressing, 75 and 76 compute capability */
    *value = attribute == 11 ? INT32_MAX : attribute == 16 ? 8 : attribute == 75 ? 7 : attribute == 19 || attribute == 41 ? 1 : 0;
    END(SUCCESS);
}

int cuCtxCreate_v2(struct context **out, unsigned flags, int device) {
    BEGIN("flags=%u device=%d", flags, device);
    if (!fake.initialised) {
        END(NOT_INITIALIZED);
    }
    struct context *context = add(CONTEXT, sizeof *context, NULL);
    *out = context;
    current = context;
    END(SUCCESS);
}

int cuCtxDestroy_v2(struct context *context) {
    BEGIN("context=%d", id_of(context));
    if (!alive(context, CONTEXT)) {
        END(INVALID_CONTEXT);
    }
    drop_context(context);
    END(SUCCESS);
}

int cuCtxSetCurrent(struct context *context) {
    BEGIN("context=%d", context ? id_of(context) : 0);
    if (context && !alive(context, CONTEXT)) {
        END(INVALID_CONTEXT);
    }
    current = context;
    END(SUCCESS);
}

int cuCtxSynchronize(void) {
    BEGIN("");
    IN_CONTEXT();
    for (struct object *o = fake.objects; o && !rc; o = o->next) {
        if (o->kind == STREAM && o->alive && o->context == current) {
            rc = drain((struct stream *)o, NULL);
        }
    }
    END(rc);
}

static struct memory *allocate(size_t bytes, int fd, int kind) {
    char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED) {
        close(fd);
        return NULL;
    }
    struct memory *m = add(kind, sizeof *m, current);
    m->device = fake.next_address;
    m->host = memory;
    m->bytes = bytes;
    m->fd = fd;
    /* Addresses of two allocations never touch, so a copy that runs over the end of one is caught. */
    fake.next_address += (bytes + ((size_t)4 << 20)) & ~(((size_t)2 << 20) - 1);
    m->references = 1;
    return m;
}

int cuMemAlloc_v2(uint64_t *out, size_t bytes) {
    BEGIN("bytes=%zu", bytes);
    IN_CONTEXT();
    if (!bytes) {
        END(INVALID_VALUE);
    }
    int fd = memfd_create("fake-cuda", MFD_CLOEXEC);
    if (fd < 0 || ftruncate(fd, (off_t)bytes)) {
        END(OUT_OF_MEMORY);
    }
    struct memory *m = allocate(bytes, fd, MEMORY);
    *out = m ? m->device : 0;
    END(m ? SUCCESS : OUT_OF_MEMORY);
}

int cuMemFree_v2(uint64_t device) {
    BEGIN("at=%s", address_name(device));
    IN_CONTEXT();
    struct memory *m = memory_at(device, 1);
    if (!m || m->device != device || m->o.kind != MEMORY) {
        END(INVALID_VALUE);
    }
    release_memory(m, "freed");
    END(SUCCESS);
}

int cuMemGetAddressRange_v2(uint64_t *base, size_t *bytes, uint64_t device) {
    BEGIN("at=%s", address_name(device));
    IN_CONTEXT();
    struct memory *m = memory_at(device, 1);
    if (!m || m->o.kind == PINNED) {
        END(INVALID_VALUE);
    }
    *base = m->device;
    *bytes = m->bytes;
    END(SUCCESS);
}

int cuMemHostRegister_v2(char *host, size_t bytes, unsigned flags) {
    BEGIN("bytes=%zu flags=%u", bytes, flags);
    IN_CONTEXT();
    if (!host || !bytes) {
        END(INVALID_VALUE);
    }
    for (struct object *o = fake.objects; o; o = o->next) {
        struct memory *m = (struct memory *)o;
        if (o->kind == PINNED && o->alive && host < m->host + m->bytes && m->host < host + bytes) {
            END(ALREADY_REGISTERED);
        }
    }
    struct memory *m = add(PINNED, sizeof *m, current);
    m->host = host;
    m->bytes = bytes;
    m->fd = -1;
    /* Only memory that was registered for mapping has an address for kernels. A real driver often uses the host's; do not rely on it. */
    m->device = flags & 2 ? (uint64_t)(uintptr_t)host + HOST_TAG : 0;
    END(SUCCESS);
}

int cuMemHostUnregister(char *host) {
    BEGIN("at=%s", host_name(host));
    IN_CONTEXT();
    struct memory *m = pinned_at(host, 1);
    if (!m || m->host != host) {
        END(NOT_REGISTERED);
    }
    release_memory(m, "unregistered");
    END(SUCCESS);
}

int cuMemHostGetDevicePointer_v2(uint64_t *out, char *host, unsigned flags) {
    BEGIN("at=%s flags=%u", host_name(host), flags);
    IN_CONTEXT();
    struct memory *m = pinned_at(host, 1);
    if (!m || !m->device) {
        END(INVALID_VALUE);
    }
    *out = m->device + (uint64_t)(host - m->host);
    END(SUCCESS);
}

int cuIpcGetMemHandle(struct ipc_handle *out, uint64_t device) {
    BEGIN("at=%s", address_name(device));
    IN_CONTEXT();
    struct memory *m = memory_at(device, 1);
    struct stat file;
    if (!m || m->o.kind != MEMORY || fstat(m->fd, &file)) {
        END(INVALID_VALUE);
    }
    memset(out, 0, sizeof *out);
    *out = (struct ipc_handle){.magic = IPC_MAGIC, .pid = getpid(), .fd = m->fd, .bytes = m->bytes, .inode = file.st_ino};
    END(SUCCESS);
}

/* The handle comes by value, as in the driver: 64 bytes on the stack. */
int cuIpcOpenMemHandle_v2(uint64_t *out, struct ipc_handle handle, unsigned flags) {
    BEGIN("pid=%d flags=%u", handle.magic == IPC_MAGIC ? (handle.pid == getpid() ? 0 : 1) : -1, flags);
    IN_CONTEXT();
    if (handle.magic != IPC_MAGIC || flags != 1) {
        END(handle.magic == IPC_MAGIC ? INVALID_VALUE : INVALID_HANDLE);
    }
    if (handle.pid == getpid()) {
        END(INVALID_CONTEXT); /* memory of one's own cannot be imported */
    }
    /* Memory that is open already is counted and keeps its address. */
    for (struct object *o = fake.objects; o; o = o->next) {
        struct memory *m = (struct memory *)o;
        if (o->kind == IPC && o->alive && o->context == current && m->pid == handle.pid && m->inode == handle.inode) {
            m->references++;
            *out = m->device;
            END(SUCCESS);
        }
    }
    char path[64];
    struct stat file;
    snprintf(path, sizeof path, "/proc/%d/fd/%d", handle.pid, handle.fd);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &file) || file.st_ino != handle.inode) {
        if (fd >= 0) {
            close(fd);
        }
        END(MAPPING_FAILED);
    }
    struct memory *m = allocate(handle.bytes, fd, IPC);
    if (!m) {
        END(MAPPING_FAILED);
    }
    m->pid = handle.pid;
    m->inode = handle.inode;
    *out = m->device;
    END(SUCCESS);
}

int cuIpcCloseMemHandle(uint64_t device) {
    BEGIN("at=%s", address_name(device));
    IN_CONTEXT();
    struct memory *m = memory_at(device, 1);
    if (!m || m->o.kind != IPC || m->device != device) {
        END(INVALID_VALUE);
    }
    release_memory(m, "closed");
    END(SUCCESS);
}

int cuStreamCreate(struct stream **out, unsigned flags) {
    BEGIN("flags=%u", flags);
    IN_CONTEXT();
    *out = add(STREAM, sizeof **out, current);
    END(SUCCESS);
}

int cuStreamDestroy_v2(struct stream *stream) {
    BEGIN("stream=%d", id_of(stream));
    IN_CONTEXT();
    if (!alive(stream, STREAM)) {
        END(INVALID_HANDLE);
    }
    if (stream->first) {
        violation("stream %d destroyed with copies under way", id_of(stream));
    }
    drop_stream(stream);
    END(SUCCESS);
}

int cuStreamSynchronize(struct stream *stream) {
    BEGIN("stream=%d", id_of(stream));
    IN_CONTEXT();
    END(alive(stream, STREAM) ? drain(stream, NULL) : INVALID_HANDLE);
}

int cuStreamQuery(struct stream *stream) {
    BEGIN("stream=%d", id_of(stream));
    IN_CONTEXT();
    if (!alive(stream, STREAM)) {
        END(INVALID_HANDLE);
    }
    rc = fake.ignore_waits ? SUCCESS : step(stream);
    END(rc ? rc : stream->first && !fake.ignore_waits ? NOT_READY : SUCCESS);
}

int cuStreamWaitEvent(struct stream *stream, struct event *event, unsigned flags) {
    BEGIN("stream=%d event=%d flags=%u", id_of(stream), id_of(event), flags);
    IN_CONTEXT();
    if (!alive(stream, STREAM) || !alive(event, EVENT)) {
        END(INVALID_HANDLE);
    }
    struct op *op = append(stream, WAIT);
    op->event = event;
    op->mark = event->recorded;
    END(SUCCESS);
}

int cuEventCreate(struct event **out, unsigned flags) {
    BEGIN("flags=%u", flags);
    IN_CONTEXT();
    *out = add(EVENT, sizeof **out, current);
    END(SUCCESS);
}

int cuEventDestroy_v2(struct event *event) {
    BEGIN("event=%d", id_of(event));
    IN_CONTEXT();
    if (!alive(event, EVENT)) {
        END(INVALID_HANDLE);
    }
    event->o.alive = 0;
    END(SUCCESS);
}

int cuEventRecord(struct event *event, struct stream *stream) {
    BEGIN("event=%d stream=%d", id_of(event), id_of(stream));
    IN_CONTEXT();
    if (!alive(stream, STREAM) || !alive(event, EVENT)) {
        END(INVALID_HANDLE);
    }
    struct op *op = append(stream, RECORD);
    op->event = event;
    op->mark = ++event->recorded;
    event->stream = stream;
    END(SUCCESS);
}

int cuEventSynchronize(struct event *event) {
    BEGIN("event=%d", id_of(event));
    IN_CONTEXT();
    END(!alive(event, EVENT) ? INVALID_HANDLE : event->stream ? drain(event->stream, event) : SUCCESS);
}

int cuEventQuery(struct event *event) {
    BEGIN("event=%d", id_of(event));
    IN_CONTEXT();
    if (!alive(event, EVENT)) {
        END(INVALID_HANDLE);
    }
    if (event->stream && event->done < event->recorded && !fake.ignore_waits) {
        rc = step(event->stream);
    }
    END(rc ? rc : event->done < event->recorded && !fake.ignore_waits ? NOT_READY : SUCCESS);
}

int cuMemcpyHtoDAsync_v2(uint64_t dst, char *src, size_t bytes, struct stream *stream) {
    BEGIN("dst=%s src=%s bytes=%zu stream=%d", address_name(dst), host_name(src), bytes, id_of(stream));
    IN_CONTEXT();
    struct copy copy = {.dst = dst, .src_host = src, .width = bytes, .height = 1};
    END(queue_copy(stream, &copy));
}

int cuMemcpyDtoHAsync_v2(char *dst, uint64_t src, size_t bytes, struct stream *stream) {
    BEGIN("dst=%s src=%s bytes=%zu stream=%d", host_name(dst), address_name(src), bytes, id_of(stream));
    IN_CONTEXT();
    struct copy copy = {.dst_host = dst, .src = src, .width = bytes, .height = 1};
    END(queue_copy(stream, &copy));
}

int cuMemcpy2DAsync_v2(const struct memcpy2d *c, struct stream *stream) {
    BEGIN("dst=%s dst_pitch=%zu src=%s src_pitch=%zu width=%zu height=%zu stream=%d",
          c->dst_type == 1 ? host_name(c->dst_host) : address_name(c->dst_device), c->dst_pitch,
          c->src_type == 1 ? host_name(c->src_host) : address_name(c->src_device), c->src_pitch, c->width, c->height, id_of(stream));
    IN_CONTEXT();
    int sides = c->src_type == 1 && c->dst_type == 2 ? 1 : c->src_type == 2 && c->dst_type == 1 ? 2 : 0;
    size_t most = c->src_pitch > c->dst_pitch ? c->src_pitch : c->dst_pitch;
    if (!sides || c->src_x + c->width > c->src_pitch || c->dst_x + c->width > c->dst_pitch || most > INT32_MAX) {
        END(INVALID_VALUE);
    }
    size_t from = c->src_y * c->src_pitch + c->src_x, to = c->dst_y * c->dst_pitch + c->dst_x;
    struct copy copy = {.width = c->width, .height = c->height, .src_pitch = c->src_pitch, .dst_pitch = c->dst_pitch};
    if (sides == 1) {
        copy.src_host = (char *)c->src_host + from;
        copy.dst = c->dst_device + to;
    } else {
        copy.src = c->src_device + from;
        copy.dst_host = c->dst_host + to;
    }
    END(queue_copy(stream, &copy));
}

/* Blocking copies, for what a test or an engine puts on the device. Waits for no stream, as with streams that do not block. */
int cuMemcpyHtoD_v2(uint64_t dst, const char *src, size_t bytes) {
    BEGIN("dst=%s bytes=%zu", address_name(dst), bytes);
    IN_CONTEXT();
    char *to = resolve(dst, bytes);
    if (!to) {
        END(INVALID_VALUE);
    }
    memcpy(to, src, bytes);
    END(SUCCESS);
}

int cuMemcpyDtoH_v2(char *dst, uint64_t src, size_t bytes) {
    BEGIN("src=%s bytes=%zu", address_name(src), bytes);
    IN_CONTEXT();
    const char *from = resolve(src, bytes);
    if (!from) {
        END(INVALID_VALUE);
    }
    memcpy(dst, from, bytes);
    END(SUCCESS);
}

int cuMemsetD8_v2(uint64_t dst, unsigned char value, size_t bytes) {
    BEGIN("dst=%s value=%u bytes=%zu", address_name(dst), value, bytes);
    IN_CONTEXT();
    char *to = resolve(dst, bytes);
    if (!to) {
        END(INVALID_VALUE);
    }
    memset(to, value, bytes);
    END(SUCCESS);
}

int cuModuleLoadData(struct module **out, const char *image) {
    BEGIN("");
    IN_CONTEXT();
    struct program *program = program_read(image);
    if (!program) {
        END(INVALID_PTX);
    }
    *out = add(MODULE, sizeof **out, current);
    (*out)->program = program;
    END(SUCCESS);
}

int cuModuleGetFunction(struct module **out, struct module *module, const char *name) {
    BEGIN("module=%d name=%s", id_of(module), name);
    IN_CONTEXT();
    if (!alive(module, MODULE)) {
        END(INVALID_HANDLE);
    }
    *out = module; /* one entry per module: the module is the function */
    END(program_parameters(module->program, name) < 0 ? NOT_FOUND : SUCCESS);
}

int cuModuleUnload(struct module *module) {
    BEGIN("module=%d", id_of(module));
    IN_CONTEXT();
    if (!alive(module, MODULE)) {
        END(INVALID_HANDLE);
    }
    module->o.alive = 0;
    END(SUCCESS);
}

int cuLaunchKernel(struct module *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared,
                   struct stream *stream, void **parameters, void **extra) {
    BEGIN("function=%d grid=%u block=%u shared=%u stream=%d", id_of(f), gx, bx, shared, id_of(stream));
    IN_CONTEXT();
    if (!alive(f, MODULE) || !alive(stream, STREAM)) {
        END(INVALID_HANDLE);
    }
    if (!gx || gy != 1 || gz != 1 || !bx || bx > 1024 || by != 1 || bz != 1 || extra || !parameters) {
        END(INVALID_VALUE);
    }
    struct op *op = append(stream, LAUNCH);
    op->program = f->program;
    op->grid = gx;
    op->block = bx;
    for (int i = 0; i < program_parameter_count(f->program); i++) {
        memcpy(&op->parameters[i], parameters[i], (size_t)program_parameter_bytes(f->program, i));
    }
    END(SUCCESS);
}
