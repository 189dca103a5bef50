/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An interpreter for the few PTX instructions that the copy kernel uses, so that the tests run the very text that a GPU is given.
 * One entry per module; one register file of 64-bit values, written with the width of the instruction. Anything unknown is an error.
 */
#include "fake_cuda.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_CODE 256
#define MAX_NAMES 128
#define MAX_TOKENS 16
#define MAX_PARAMETERS 8
#define MAX_STEPS 100000000L

struct operand {
    int is_register;
    int slot;
    int64_t value; /* an immediate, or the offset of an address */
};

struct instruction {
    char opcode[40];
    int guard; /* slot of the predicate, or -1 */
    int negated;
    int count;
    struct operand operands[MAX_TOKENS];
    int target; /* of a branch */
    char label[40];
};

struct program {
    char entry[64];
    int parameters;
    char parameter_names[MAX_PARAMETERS][64];
    int parameter_bytes[MAX_PARAMETERS];
    int length;
    struct instruction code[MAX_CODE];
    int names;
    char name[MAX_NAMES][40];
    int labels;
    char label[MAX_NAMES][40];
    int label_at[MAX_NAMES];
};

static struct program *refuse(struct program *program, const char *why, const char *what) {
    fprintf(stderr, "fake libcuda: PTX refused: %s: %s\n", why, what);
    free(program);
    return NULL;
}

static int slot_of(struct program *program, const char *name) {
    for (int i = 0; i < program->names; i++) {
        if (!strcmp(program->name[i], name)) {
            return i;
        }
    }
    if (program->names == MAX_NAMES) {
        return -1;
    }
    snprintf(program->name[program->names], sizeof program->name[0], "%s", name);
    return program->names++;
}

static int parse_operand(struct program *program, const char *token, struct operand *out) {
    memset(out, 0, sizeof *out);
    char name[64];
    if (token[0] == '%') {
        int n = 0;
        while (token[n] && token[n] != '+' && n < 63) {
            name[n] = token[n];
            n++;
        }
        name[n] = 0;
        out->is_register = 1;
        out->slot = slot_of(program, name);
        out->value = token[n] == '+' ? strtoll(token + n + 1, NULL, 0) : 0;
        return out->slot >= 0;
    }
    for (int i = 0; i < program->parameters; i++) {
        if (!strcmp(program->parameter_names[i], token)) {
            out->slot = i;
            return 1;
        }
    }
    char *end;
    out->value = strtoll(token, &end, 0);
    return *end == 0;
}

/* "ld.global.u64 %rd7, [%rd6+8]": the opcode, then operands separated by commas, brackets and braces. */
static int parse_statement(struct program *program, char *text) {
    static const char *separators = " \t\n\r,[]{}";
    struct instruction *in = &program->code[program->length];
    memset(in, 0, sizeof *in);
    in->guard = -1;
    char *save;
    char *token = strtok_r(text, separators, &save);
    if (!token || !strncmp(token, ".reg", 4)) {
        return 1;
    }
    if (program->length == MAX_CODE) {
        return 0;
    }
    if (token[0] == '@') {
        in->negated = token[1] == '!';
        in->guard = slot_of(program, token + 1 + in->negated);
        token = strtok_r(NULL, separators, &save);
        if (!token) {
            return 0;
        }
    }
    snprintf(in->opcode, sizeof in->opcode, "%s", token);
    int branch = !strncmp(token, "bra", 3);
    while ((token = strtok_r(NULL, separators, &save))) {
        if (branch) {
            snprintf(in->label, sizeof in->label, "%s", token);
        } else if (in->count == MAX_TOKENS || !parse_operand(program, token, &in->operands[in->count++])) {
            return 0;
        }
    }
    program->length++;
    return 1;
}

static void strip_comments(char *text) {
    for (char *c = text; (c = strstr(c, "//"));) {
        while (*c && *c != '\n') {
            *c++ = ' ';
        }
    }
}

static int parse_header(struct program *program, char *text, char **body) {
    char *entry = strstr(text, ".visible .entry");
    char *open = entry ? strchr(entry, '(') : NULL;
    char *close = open ? strchr(open, ')') : NULL;
    char *brace = close ? strchr(close, '{') : NULL;
    char *end = brace ? strrchr(brace, '}') : NULL;
    if (!strstr(text, ".version") || !strstr(text, ".target") || !end || sscanf(entry, ".visible .entry %63[A-Za-z0-9_]", program->entry) != 1) {
        return 0;
    }
    for (char *at = open; (at = strstr(at, ".param")) && at < close; at++) {
        int i = program->parameters++;
        char type[8];
        if (i == MAX_PARAMETERS || sscanf(at, ".param .%7s %63[A-Za-z0-9_]", type, program->parameter_names[i]) != 2) {
            return 0;
        }
        program->parameter_bytes[i] = atoi(type + 1) / 8;
    }
    *end = 0;
    *body = brace + 1;
    return 1;
}

static int link_branches(struct program *program) {
    for (int i = 0; i < program->length; i++) {
        struct instruction *in = &program->code[i];
        in->target = -1;
        for (int l = 0; in->label[0] && l < program->labels; l++) {
            if (!strcmp(program->label[l], in->label)) {
                in->target = program->label_at[l];
            }
        }
        if (in->label[0] && in->target < 0) {
            return 0;
        }
    }
    return 1;
}

struct program *program_read(const char *image) {
    struct program *program = calloc(1, sizeof *program);
    char *text = strdup(image);
    char *body;
    strip_comments(text);
    if (!parse_header(program, text, &body)) {
        free(text);
        return refuse(program, "no entry", "expected .version, .target and one .visible .entry");
    }
    while (*body) {
        body += strspn(body, " \t\r\n");
        size_t word = strcspn(body, " \t\r\n:;");
        char *end = body + word;
        if (*end == ':' && word < 40 && program->labels < MAX_NAMES) {
            memcpy(program->label[program->labels], body, word);
            program->label_at[program->labels++] = program->length;
            body = end + 1;
            continue;
        }
        end = strchr(body, ';');
        if (!end) {
            break;
        }
        *end = 0;
        char *copy = strdup(body);
        int fine = parse_statement(program, copy);
        free(copy);
        if (!fine) {
            program = refuse(program, "cannot read", body);
            free(text);
            return program;
        }
        body = end + 1;
    }
    free(text);
    return link_branches(program) ? program : refuse(program, "a branch without its label", "");
}

int program_parameters(const struct program *program, const char *name) {
    return strcmp(program->entry, name) ? -1 : program->parameters;
}

int program_parameter_bytes(const struct program *program, int index) {
    return program->parameter_bytes[index];
}

struct thread {
    const struct program *program;
    const uint64_t *parameters;
    uint64_t registers[MAX_NAMES];
    resolver memory;
};

static uint64_t value(const struct thread *t, const struct operand *o) {
    return o->is_register ? t->registers[o->slot] : (uint64_t)o->value;
}

/* Loads and stores: width and number of values stand in the opcode, as in ld.global.cs.v4.u32. */
static int access_memory(struct thread *t, const struct instruction *in, int store) {
    const char *type = strrchr(in->opcode, '.') + 2;
    size_t bytes = (size_t)atoi(type) / 8;
    int values = strstr(in->opcode, ".v4") ? 4 : 1;
    const struct operand *at = &in->operands[store ? 0 : values];
    uint64_t address = t->registers[at->slot] + (uint64_t)at->value;
    if (!bytes || in->count != values + 1 || !at->is_register) {
        return INVALID_PTX;
    }
    if (address % (bytes * (size_t)values)) {
        return MISALIGNED_ADDRESS;
    }
    char *memory = t->memory(address, bytes * (size_t)values);
    if (!memory) {
        return ILLEGAL_ADDRESS;
    }
    for (int i = 0; i < values; i++) {
        uint64_t *cell = &t->registers[in->operands[store ? i + 1 : i].slot];
        if (store) {
            memcpy(memory + (size_t)i * bytes, cell, bytes);
        } else {
            *cell = 0;
            memcpy(cell, memory + (size_t)i * bytes, bytes);
        }
    }
    return SUCCESS;
}

static int is(const struct instruction *in, const char *opcode) {
    return !strcmp(in->opcode, opcode);
}

static int compute(struct thread *t, const struct instruction *in) {
    uint64_t *out = &t->registers[in->operands[0].slot];
    uint64_t a = value(t, &in->operands[1]);
    uint64_t b = in->count > 2 ? value(t, &in->operands[2]) : 0;
    if (is(in, "ld.param.u64") || is(in, "ld.param.u32")) {
        *out = t->parameters[in->operands[1].slot];
    } else if (is(in, "mov.u64") || is(in, "mov.u32") || is(in, "cvt.u64.u32")) {
        *out = a;
    } else if (is(in, "add.u64")) {
        *out = a + b;
    } else if (is(in, "add.u32")) {
        *out = (uint32_t)(a + b);
    } else if (is(in, "shl.b64")) {
        *out = a << b;
    } else if (is(in, "mul.wide.u32")) {
        *out = (uint64_t)(uint32_t)a * (uint32_t)b;
    } else if (is(in, "mul.lo.u64")) {
        *out = a * b;
    } else if (is(in, "or.b64")) {
        *out = a | b;
    } else if (is(in, "and.b64")) {
        *out = a & b;
    } else if (is(in, "setp.ge.u64")) {
        *out = a >= b;
    } else if (is(in, "setp.ge.u32")) {
        *out = (uint32_t)a >= (uint32_t)b;
    } else if (is(in, "setp.ne.u64")) {
        *out = a != b;
    } else {
        fprintf(stderr, "fake libcuda: PTX instruction %s is not known\n", in->opcode);
        return INVALID_PTX;
    }
    return SUCCESS;
}

static int run_thread(struct thread *t) {
    int at = 0;
    for (long steps = 0; at < t->program->length; steps++) {
        const struct instruction *in = &t->program->code[at++];
        if (steps == MAX_STEPS) {
            return LAUNCH_FAILED;
        }
        if (in->guard >= 0 && (t->registers[in->guard] != 0) == in->negated) {
            continue;
        }
        int rc = SUCCESS;
        if (is(in, "ret")) {
            return SUCCESS;
        } else if (in->label[0]) {
            at = in->target;
        } else if (!strncmp(in->opcode, "ld.global", 9)) {
            rc = access_memory(t, in, 0);
        } else if (!strncmp(in->opcode, "st.global", 9)) {
            rc = access_memory(t, in, 1);
        } else {
            rc = compute(t, in);
        }
        if (rc) {
            return rc;
        }
    }
    return LAUNCH_FAILED; /* ran off the end without ret */
}

int program_run(const struct program *program, const uint64_t *parameters, unsigned grid, unsigned block, resolver memory) {
    struct program names = *program; /* special registers may not occur in the text: looking them up must not change it */
    int tid = slot_of(&names, "%tid.x"), ntid = slot_of(&names, "%ntid.x");
    int ctaid = slot_of(&names, "%ctaid.x"), nctaid = slot_of(&names, "%nctaid.x");
    for (uint64_t i = 0; i < (uint64_t)grid * block; i++) {
        struct thread t = {.program = program, .parameters = parameters, .memory = memory};
        /* What a register holds before it is written is undefined: make sure that nothing relies on zero. */
        memset(t.registers, 0xA5, sizeof t.registers);
        t.registers[tid] = i % block;
        t.registers[ntid] = block;
        t.registers[ctaid] = i / block;
        t.registers[nctaid] = grid;
        int rc = run_thread(&t);
        if (rc) {
            return rc;
        }
    }
    return SUCCESS;
}

int program_parameter_count(const struct program *program) {
    return program->parameters;
}
