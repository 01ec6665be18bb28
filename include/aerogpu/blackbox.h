/* SPDX-License-Identifier: MIT */
/* blackbox.h: a library that explains crashes of a GPU, and of anything else that runs queues of commands.
 *
 *   while it runs   flight recorder: events of every process in rings that survive kill -9          bb_flight_*
 *                   resources: what lies at an address, and what lay there before                    bb_resources_*
 *                   names: of what the device is in, of causes, of what became of a command          bb_status_name, …
 *   when it crashed package: rows of evidence, handed to a short-lived process that makes the dump   bb_package_*
 *   any of the two  Vulkan programs: all of it for a VkDevice of the program's own                    bb_vk_*
 *   afterwards      inference: which command was it, from the markers that were written              bb_infer
 *                   dump: an SQLite file with a documented schema (docs/dump-schema.md)              bb_dump_*
 *                   report: the verdict in one sentence, then the evidence; text, JSON, HTML         bb_report_*
 *
 * The parts need nothing of each other: take one of them, or all. samples/blackbox.c uses the library alone.
 *
 * Functions return 0 or a negative errno, and say why in a `struct bb_error` where one is taken (NULL is legal; what it held is
 * overwritten, code 0 where nothing failed). Times are nanoseconds of CLOCK_MONOTONIC, which is one clock for all processes of a machine. Text is UTF-8; bytes that are not are
 * replaced by U+FFFD where they enter.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif
#ifdef __ELF__
#pragma GCC visibility push(default)
#endif

struct bb_error {
    int code;       /* 0, or a negative errno */
    char text[300]; /* one sentence without a full stop */
};

/* ---- inference --------------------------------------------------------------
 *
 * A queue is a list of items in the order in which the command processor meets them. Two kinds of markers stand between
 * the commands:
 *   a TOP marker is written when the command processor reaches it; it waits for nothing;
 *   a BOTTOM marker is written when every command before it has finished; the command processor goes on meanwhile.
 * From which of them were written follows what the commands were doing:
 *   before a written BOTTOM marker          finished
 *   behind an unwritten TOP marker          not started: the command processor never came there
 *   else                                    running, or perhaps running: a candidate
 * A command whose own TOP marker behind it is missing is left out as long as an earlier one is certainly unfinished: the
 * command processor stopped in front of it because of that one.
 */
enum bb_item_kind {
    BB_ITEM_COMMAND, /* a draw, dispatch, copy: it takes time */
    BB_ITEM_WAIT,    /* a command that waits for another queue's fence */
    BB_ITEM_TOP,
    BB_ITEM_BOTTOM,
    BB_ITEM_PUSH, /* a named region begins and ends; regions nest, and need not be balanced */
    BB_ITEM_POP,
};

struct bb_item {
    enum bb_item_kind kind;
    bool written;     /* TOP and BOTTOM: found in memory. WAIT: what it waits for was signalled */
    const char *name; /* of a command or region; may be NULL */
    uint64_t id;      /* the caller's: packet number, marker index, … */
};

/* S(NAME, text) */
#define BB_STATES(S)                                                                                         \
    S(FINISHED, "finished")                                                                                  \
    S(RUNNING, "running")                                                                                    \
    S(MAYBE_RUNNING, "perhaps running")                                                                      \
    S(NOT_STARTED, "not started")

enum bb_state {
#define BB_ROW(NAME, text) BB_##NAME,
    BB_STATES(BB_ROW)
#undef BB_ROW
        BB_NUM_STATES
};

enum bb_certainty {
    BB_NOTHING, /* everything finished */
    BB_CERTAIN, /* one candidate, and it did not finish */
    BB_SEVERAL, /* the markers leave more than one */
    BB_UNKNOWN, /* unfinished, but no command can be named */
};

/* At most this many BOTTOM markers can wait at a time on the hardware that the model is taken from; then the command
 * processor stops, also in front of commands. */
#define BB_PENDING_BOTTOM_LIMIT 64

struct bb_inference {
    enum bb_certainty certainty;
    uint32_t num_candidates;
    uint32_t *candidates; /* indices of items, in the order of the queue */
    uint8_t *states;      /* enum bb_state of every item; of a marker: of what is in front of it */
    uint32_t num_items;
    uint32_t pending_bottoms;  /* BOTTOM markers that were reached and not written */
    uint32_t stalled_by_limit; /* 1: the limit on them may have stopped the command processor */
    uint32_t unbalanced_pops, open_regions;
    uint32_t contradictions; /* markers that cannot have been written before others: the memory was reused */
    char path[256];          /* of regions around the first candidate, "frame/shadows" */
    char conclusion[512];    /* in words */
};

/* How it ended. In a hang whatever can finish does, so that what is unfinished is to blame or waits for what is. Where
 * everything stops at once (a page fault, a lost device, the end of the process), what merely ran is unfinished as well: only a
 * command that is left alone is certain. */
enum bb_end { BB_END_HANG, BB_END_AT_ONCE };

/* Fills `out`, whose memory belongs to the caller until bb_inference_finish. 0 or -ENOMEM. */
int bb_infer(struct bb_inference *out, const struct bb_item *items, uint32_t num_items, enum bb_end end);
void bb_inference_finish(struct bb_inference *inference);
const char *bb_state_name(enum bb_state state);
enum bb_state bb_state_find(const char *name); /* BB_NUM_STATES: none has that name */
/* Running, or perhaps running: it may be to blame. */
static inline bool bb_state_is_candidate(enum bb_state state)
{
    return state == BB_RUNNING || state == BB_MAYBE_RUNNING;
}

/* ---- device status ------------------------------------------------------- */

/* S(NAME, text) */
#define BB_STATUSES(S)                                                                                       \
    S(ACTIVE, "active")                                                                                      \
    S(TIMEOUT, "timeout")                                                                                    \
    S(OUT_OF_MEMORY, "out of memory")                                                                        \
    S(PAGE_FAULT, "page fault")                                                                              \
    S(STOPPED, "stopped")                                                                                    \
    S(RESET, "reset")                                                                                        \
    S(DMA_FAULT, "DMA fault")                                                                                \
    S(UNKNOWN, "unknown")

enum bb_status {
#define BB_ROW(NAME, text) BB_STATUS_##NAME,
    BB_STATUSES(BB_ROW)
#undef BB_ROW
        BB_NUM_STATUSES
};

const char *bb_status_name(enum bb_status status);

/* How sure a fact is. docs/evidence.md says which evidence makes it so. S(NAME, text) */
#define BB_SURENESS(S)                                                                                       \
    S(UNKNOWN, "unknown")     /* nothing says so */                                                          \
    S(SUGGESTED, "suggested") /* something else could look the same */                                       \
    S(PROVEN, "proven")       /* everything else that could look the same is ruled out */

enum bb_sure {
#define BB_ROW(NAME, text) BB_SURE_##NAME,
    BB_SURENESS(BB_ROW)
#undef BB_ROW
        BB_NUM_SURE
};

const char *bb_sure_name(enum bb_sure sure);

/* ---- causes -----------------------------------------------------------------
 *
 * Why it crashed, as far as that is known. C(NAME, name, kind, words, status, advice):
 *   name    as dumps and reports have it
 *   kind    NOTHING crashed; a CRASH of the device's work; it came from OUTSIDE, and no command is to blame; the device
 *           made a REFUSAL, and says why in words
 *   words   what the command did that is to blame, or was running; of refusals, how the sentence begins
 *   status  the device's from then on; ACTIVE: as it was
 *   advice  what to look at next, or NULL
 */
/* clang-format off */
#define BB_CAUSES(C)                                                                                           \
    C(NONE, "none", NOTHING, "", ACTIVE, NULL)                                                                 \
    C(REQUEST, "request", NOTHING, "", ACTIVE, NULL)                                                           \
    C(HANG, "hang", CRASH, "does not finish", TIMEOUT,                                                         \
      "Look at the loops that the command runs, in its shaders if it has any: what ends them, and can it be that it never comes?")\
    C(WAITING, "waiting", CRASH, "waits", TIMEOUT,                                                                             \
      "See who should have signalled what it waits for: was it never submitted, or submitted behind this?")                    \
    C(SLOW, "slow", NOTHING, "is slow", TIMEOUT,                                                                               \
      "It ended when it was let run: see how much it does for each vertex, pixel or thread.")                       \
    C(PAGE_FAULT, "page fault", CRASH, "caused a page fault", PAGE_FAULT,                                      \
      "See who owns or owned the address; then look where it was computed.")             \
    C(FAULT, "fault", CRASH, "brought the executor down", STOPPED, NULL)                                       \
    C(DEVICE, "device", CRASH, "brought the executor down", STOPPED, NULL)                                     \
    C(LIMIT, "memory limit", CRASH, "was running as the executor found no more memory", STOPPED,                               \
      "Order the dump's table `resource` by size: what grows, and what is never destroyed?")                        \
    C(KILLED, "killed", OUTSIDE, "was running", STOPPED,                                                                       \
      "Find out who sent the signal, and why: nothing in the stream is wrong.")                                                \
    C(HOST_MEMORY, "host memory", OUTSIDE, "was running", STOPPED,                                                             \
      "The host had no memory left and its kernel chose the executor: see what else ran there, and what the executor had.")    \
    C(STOPPED, "stopped", OUTSIDE, "was running", TIMEOUT,                                                                     \
      "Something stopped the executor (SIGSTOP, a debugger, a freezer): let it go on; nothing in the stream is known to be wrong.")\
    C(STARVED, "starved", OUTSIDE, "was running", TIMEOUT,                                                                     \
      "The host hardly let the executor run: see what else ran there; nothing in the stream is known to be wrong.")            \
    C(PROGRAM, "program", OUTSIDE, "was running", ACTIVE,                                                                      \
      "A debugger says more about the program's own code; no command of the device is known to be at fault.")                  \
    C(REMOVED, "device removed", OUTSIDE, "was running", ACTIVE, NULL)                                         \
    C(MALFORMED, "malformed", REFUSAL, "The device refused", ACTIVE,                                           \
      "The sentence names the packet and field: compare them with what the driver meant to write.")            \
    C(MEMORY, "out of memory", REFUSAL, "There was no memory left for", OUT_OF_MEMORY,                         \
      "Order the dump's table `resource` by size: what grows, and what is never destroyed?")                   \
    C(DMA, "DMA fault", REFUSAL, "A guest address was no guest memory in", DMA_FAULT,                          \
      "The address is the guest's: was the allocation unmapped or evicted while a stream still named it?")     \
    C(MISALIGNED, "misaligned", REFUSAL, "A buffer is bound misaligned in", ACTIVE,                            \
      "The sentence names the slot or handle: look where the program binds it.")                               \
    C(TYPE, "wrong type", REFUSAL, "A resource of the wrong kind is used in", ACTIVE,                          \
      "The sentence names the slot or handle: look where the program binds it.")
/* clang-format on */

enum bb_cause {
#define BB_ROW(NAME, name, kind, words, status, advice) BB_CAUSE_##NAME,
    BB_CAUSES(BB_ROW)
#undef BB_ROW
        BB_NUM_CAUSES
};

enum bb_cause_kind { BB_KIND_NOTHING, BB_KIND_CRASH, BB_KIND_OUTSIDE, BB_KIND_REFUSAL };

struct bb_cause_desc {
    const char *name;
    enum bb_cause_kind kind;
    const char *words;
    enum bb_status status;
    const char *advice;
};

/* Of a number that is none: of NONE. */
const struct bb_cause_desc *bb_cause_desc(enum bb_cause cause);
enum bb_cause bb_cause_find(const char *name); /* BB_CAUSE_NONE: none has that name */

/* ---- resources --------------------------------------------------------------
 *
 * A registry of what occupies which addresses, with a bounded history of what did. Any thread.
 */
struct bb_resources;

struct bb_resource {
    uint64_t id;      /* the caller's */
    const char *name; /* "" for none */
    const char *kind; /* "buffer", "texture 256x256", … */
    uint64_t address, size;
    uint64_t created_ns, last_use_ns, destroyed_ns; /* destroyed 0: alive */
    uint64_t
        evicted_ns; /* not 0: without memory since then; destroyed_ns: it is alive, and its memory was freed */
};

/* `history` freed ones are remembered; 0 for 65 536. */
int bb_resources_create(struct bb_resources **out, uint32_t history);
void bb_resources_destroy(struct bb_resources *r);

/* Names and kinds are copied, 63 bytes of them. -EEXIST: the id is alive. -EINVAL: the range wraps around. */
int bb_resources_add(struct bb_resources *r, const struct bb_resource *resource);
void bb_resources_use(struct bb_resources *r, uint64_t id, uint64_t time_ns);
int bb_resources_remove(struct bb_resources *r, uint64_t id, uint64_t time_ns); /* -ENOENT */

/* Evicts it, or makes it resident again. -ENOENT. */
int bb_resources_evict(struct bb_resources *r, uint64_t id, bool evicted, uint64_t time_ns);

enum bb_fault_kind {
    BB_FAULT_INSIDE,         /* the address belongs to a live resource: rights or alignment */
    BB_FAULT_USE_AFTER_FREE, /* it belonged to one that is gone */
    BB_FAULT_OUT_OF_BOUNDS,  /* it lies just behind or before a live one */
    BB_FAULT_NEVER_MAPPED,
    BB_FAULT_NOT_RESIDENT, /* it belongs to a live one that is evicted */
    BB_FAULT_NOT_SEEN,     /* of those who do not see all memory: it belongs to nothing that they saw */
};

const char *bb_fault_kind_name(enum bb_fault_kind kind);

enum { BB_FAULT_OWNERS = 4 };

struct bb_fault {
    enum bb_fault_kind kind;
    uint64_t address;
    uint64_t distance; /* OUT_OF_BOUNDS: bytes behind the end (or before the start) of `resource` */
    bool before;
    bool has_resource; /* that the verdict is about */
    struct bb_resource resource;
    uint32_t num_former; /* who had the address before, latest first */
    struct bb_resource former[BB_FAULT_OWNERS];
    bool has_below, has_above; /* the nearest living neighbours */
    struct bb_resource below, above;
    char text[400]; /* in words */
};

/* How far out of bounds an access can be and still be blamed on the neighbour. */
#define BB_FAULT_REACH (UINT64_C(64) << 10)

/* The strings in `out` are valid until the next call that changes `r`. */
void bb_resources_fault(struct bb_resources *r, uint64_t address, struct bb_fault *out);

void bb_resources_each(struct bb_resources *r, void (*each)(void *ctx, const struct bb_resource *resource),
                       void *ctx);

/* ---- the package, and the dump made of it -----------------------------------
 *
 * Evidence is written as rows of the tables of docs/dump-schema.md into memory, which costs no more than copying it. A
 * process of its own then turns it into an SQLite file and moves that into place: there is never half a dump, and the
 * program that crashed does not have to live that long.
 */

/* T(NAME, name, documentation); the columns of each are BB_COLUMNS_NAME: C(table, name, type, documentation), type being
 * INT, REAL, TEXT or BLOB. */
#define BB_SCHEMA_VERSION 3
#define BB_TABLES(T)                                                                                         \
    T(META, meta, "What the dump is: one row per key")                                                       \
    T(STATUS, status, "The device's status and when it changed")                                             \
    T(FINDING, finding, "What the dump says, best first: the verdict is rank 0")                             \
    T(QUEUE, queue, "Queues or contexts: how far each had come")                                             \
    T(CHECKPOINT, checkpoint, "Places in the streams that the program named: each context's last ones")      \
    T(SUBMISSION, submission, "The last submissions, oldest first")                                          \
    T(MARK, mark, "Progress marks of submissions that had not completed")                                    \
    T(PACKET, packet, "The commands of submissions that had not completed, and what became of each")         \
    T(BINDING, binding, "Shaders and resources that were bound at a command")                                \
    T(USAGE, usage, "How many commands use what, in the crashing region and in all")                         \
    T(SHADER, shader, "Shaders")                                                                             \
    T(RESOURCE, resource, "Resources, alive and freed")                                                      \
    T(FAULT, fault, "Page faults")                                                                           \
    T(STACK, stack, "Who made, freed and submitted what the verdict is about: return addresses")             \
    T(REGISTER, register, "What the processor held at a page fault, and where that points")                  \
    T(FENCE, fence, "Fences and their values")                                                               \
    T(EVENT, event, "The time line: the device's events and those of the flight recorders")                  \
    T(HOST, host, "The host's processors and memory around the fault")                                       \
    T(SAMPLE, sample, "How busy the host was in the last seconds, oldest first")                             \
    T(PICTURE, picture, "Scanout pictures")                                                                  \
    T(FILE, file, "Files: the playable recording of the last submissions")                                   \
    T(REPLAY, replay, "Re-executions of the recording, oldest first")                                        \
    T(CHECKSUM, checksum,                                                                                    \
      "What each table was when it was written last; a byte that changed since then shows")

/* clang-format off */
#define BB_COLUMNS_META(C)                                                                                     \
    C(meta, key, TEXT, "see below")                                                                            \
    C(meta, value, TEXT, "its value")
#define BB_COLUMNS_STATUS(C)                                                                                   \
    C(status, time_ns, INT, "when")                                                                            \
    C(status, status, TEXT, "the new status")                                                                  \
    C(status, detail, TEXT, "why, as the device or system said it")
#define BB_COLUMNS_FINDING(C)                                                                                  \
    C(finding, rank, INT, "0: the verdict")                                                                    \
    C(finding, certainty, TEXT, "of the command: certain, candidate; hint: of a trace that shows too little")  \
    C(finding, cause, TEXT, "see the causes below; of a processor trace, its verdict")                         \
    C(finding, text, TEXT, "one sentence")                                                                     \
    C(finding, submission, INT, "submission.id or NULL")                                                       \
    C(finding, packet, INT, "packet.number or NULL")                                                           \
    C(finding, source, TEXT, "group markers, exact markers, markers of a known group, decoder position, device error, what it has bound, processor trace; with `, played again`: found by a re-execution")\
    C(finding, sure_happened, TEXT, "that something went wrong: proven, suggested, unknown (docs/evidence.md)")\
    C(finding, sure_command, TEXT, "that it was this command")                                                 \
    C(finding, sure_cause, TEXT, "that this is why")                                                           \
    C(finding, sure_memory, TEXT, "whose memory a page fault was about; the address itself is in table fault") \
    C(finding, unseen, TEXT, "what could not be seen")
#define BB_COLUMNS_QUEUE(C)                                                                                    \
    C(queue, id, INT, "context or queue number")                                                               \
    C(queue, name, TEXT, "its name")                                                                           \
    C(queue, last_submitted, INT, "id of a submission")                                                        \
    C(queue, last_completed, INT, "id of a submission")                                                        \
    C(queue, top, TEXT, "the last checkpoint that was reached")                                                \
    C(queue, bottom, TEXT, "the last checkpoint that was passed")
#define BB_COLUMNS_CHECKPOINT(C)                                                                               \
    C(checkpoint, queue, INT, "queue.id")                                                                      \
    C(checkpoint, which, TEXT, "top: the last that was reached; bottom: the last that was passed")             \
    C(checkpoint, submission, INT, "submission.id")                                                            \
    C(checkpoint, packet, INT, "in its stream")                                                                \
    C(checkpoint, kind, TEXT, "copy or pointer")                                                               \
    C(checkpoint, pointer, INT, "as the program gave it, NULL for copies")                                     \
    C(checkpoint, text, TEXT, "the payload, if it is text")                                                    \
    C(checkpoint, payload, BLOB, "at most 1 024 bytes; NULL: there is none, or it cannot be read")
#define BB_COLUMNS_SUBMISSION(C)                                                                               \
    C(submission, id, INT, "its number on the device")                                                         \
    C(submission, queue, INT, "queue.id")                                                                      \
    C(submission, fence, INT, "value that it signals")                                                         \
    C(submission, time_ns, INT, "when the device took it")                                                     \
    C(submission, done_ns, INT, "when it completed, NULL: it did not")                                         \
    C(submission, state, TEXT, "completed, failed, running, queued")                                           \
    C(submission, error, TEXT, "what the device said, if it failed")                                           \
    C(submission, cmd_gpa, INT, "guest address of the stream")                                                 \
    C(submission, cmd_size, INT, "bytes")                                                                      \
    C(submission, flags, INT, "of the descriptor")                                                             \
    C(submission, packets, INT, "number of packets")                                                           \
    C(submission, draws, INT, "draws and dispatches among them")                                               \
    C(submission, stream, BLOB, "the command stream")                                                          \
    C(submission, table_, BLOB, "the allocation table")
#define BB_COLUMNS_MARK(C)                                                                                     \
    C(mark, submission, INT, "submission.id")                                                                  \
    C(mark, number, INT, "from 1")                                                                             \
    C(mark, first, INT, "packet")                                                                              \
    C(mark, last, INT, "packet")                                                                               \
    C(mark, top, INT, "1: the device reached it")                                                              \
    C(mark, bottom, INT, "1: the device finished it")                                                          \
    C(mark, exact, INT, "1: one packet; 0: a group")
#define BB_COLUMNS_PACKET(C)                                                                                   \
    C(packet, submission, INT, "submission.id")                                                                \
    C(packet, number, INT, "from 0")                                                                           \
    C(packet, offset, INT, "in the stream")                                                                    \
    C(packet, name, TEXT, "opcode")                                                                            \
    C(packet, text, TEXT, "with its fields")                                                                   \
    C(packet, work, INT, "1: it takes time on the device")                                                     \
    C(packet, draw, INT, "number among draws and dispatches, NULL for others")                                 \
    C(packet, path, TEXT, "names of the regions around it")                                                    \
    C(packet, state, TEXT, "finished, running, perhaps running, not started; NULL: it takes no time")
#define BB_COLUMNS_BINDING(C)                                                                                  \
    C(binding, submission, INT, "submission.id")                                                               \
    C(binding, packet, INT, "packet.number")                                                                   \
    C(binding, slot, TEXT, "vs, ps, t0, cb1, rt0, …")                                                          \
    C(binding, kind, TEXT, "shader or resource")                                                               \
    C(binding, handle, INT, "the guest's handle")                                                              \
    C(binding, what, TEXT, "shader.hash or a name")
#define BB_COLUMNS_USAGE(C)                                                                                    \
    C(usage, kind, TEXT, "shader, resource, path, command; total: of all")                                     \
    C(usage, name, TEXT, "hash, kind and size, path, opcode")                                                  \
    C(usage, commands, INT, "that use it, of all submissions")                                                 \
    C(usage, running, INT, "of these: running or perhaps running")
#define BB_COLUMNS_SHADER(C)                                                                                   \
    C(shader, hash, TEXT, "of the bytes")                                                                      \
    C(shader, name, TEXT, "that the program gave it, or NULL")                                                 \
    C(shader, handle, INT, "the guest's handle")                                                               \
    C(shader, stage, TEXT, "vertex, pixel, …")                                                                 \
    C(shader, kind, TEXT, "DXBC, D3D9, SPIR-V")                                                                \
    C(shader, alive, INT, "0: destroyed")                                                                      \
    C(shader, bytes, BLOB, "as created")                                                                       \
    C(shader, text, TEXT, "disassembly")
#define BB_COLUMNS_RESOURCE(C)                                                                                 \
    C(resource, id, INT, "the guest's handle")                                                                 \
    C(resource, kind, TEXT, "buffer, texture 64x64 …")                                                         \
    C(resource, name, TEXT, "that the program gave it, else names of the regions in which it was made, or NULL") \
    C(resource, address, INT, "GPU virtual address, NULL for none")                                            \
    C(resource, size, INT, "bytes")                                                                            \
    C(resource, gpa, INT, "guest address of the memory behind it; NULL: it has none, or its table is not known")\
    C(resource, created_ns, INT, "when it was made, or the device took the submission that made it")           \
    C(resource, last_use_ns, INT, "when the device took the last submission that worked with it; NULL: none did")\
    C(resource, destroyed_ns, INT, "NULL: alive")                                                              \
    C(resource, evicted_ns, INT, "alive, and without memory since then; NULL: it has it")
#define BB_COLUMNS_FAULT(C)                                                                                    \
    C(fault, time_ns, INT, "")                                                                                 \
    C(fault, address, INT, "NULL: the processor does not say which, as of one that is not canonical")            \
    C(fault, access, TEXT, "read, write, execute; NULL: the processor did not say")                            \
    C(fault, kind, TEXT, "use after free, …")                                                                  \
    C(fault, resource, INT, "resource.id or NULL")                                                             \
    C(fault, distance, INT, "bytes out of bounds")                                                             \
    C(fault, text, TEXT, "in words")                                                                           \
    C(fault, at, TEXT, "the part of the verdict's sentence that is about it")
#define BB_COLUMNS_STACK(C)                                                                                    \
    C(stack, what, TEXT, "submitted, created, destroyed")                                                      \
    C(stack, handle, INT, "submission.id, or the handle of what was created or destroyed")                     \
    C(stack, name, TEXT, "what it is")                                                                         \
    C(stack, depth, INT, "0: the innermost caller")                                                            \
    C(stack, module, TEXT, "file of the program or library, without folders; NULL: code that has none")        \
    C(stack, build_id, TEXT, "of the module, in hexadecimal; NULL: it has none")                               \
    C(stack, offset, INT, "of the return address in the module; without one, the address")
#define BB_COLUMNS_REGISTER(C)                                                                                 \
    C(register, name, TEXT, "of the processor that faulted")                                                   \
    C(register, value, INT, "")                                                                                \
    C(register, text, TEXT, "what lies there, or that it is no address; NULL: nothing is known")
#define BB_COLUMNS_FENCE(C)                                                                                    \
    C(fence, name, TEXT, "")                                                                                   \
    C(fence, value, INT, "the last signalled")                                                                 \
    C(fence, submitted, INT, "the last asked for")                                                             \
    C(fence, queue, INT, "queue.id")
#define BB_COLUMNS_EVENT(C)                                                                                    \
    C(event, time_ns, INT, "")                                                                                 \
    C(event, process, TEXT, "who recorded it")                                                                 \
    C(event, pid, INT, "")                                                                                     \
    C(event, thread, INT, "")                                                                                  \
    C(event, name, TEXT, "")                                                                                   \
    C(event, a, INT, "arguments, by name")                                                                     \
    C(event, b, INT, "")                                                                                       \
    C(event, c, INT, "")                                                                                       \
    C(event, text, TEXT, "or NULL")
#define BB_COLUMNS_HOST(C)                                                                                     \
    C(host, name, TEXT, "counter")                                                                             \
    C(host, before, REAL, "a second before, or NULL")                                                          \
    C(host, at, REAL, "when the dump was made")                                                                \
    C(host, unit, TEXT, "")
#define BB_COLUMNS_SAMPLE(C)                                                                                   \
    C(sample, time_ns, INT, "")                                                                                \
    C(sample, user, REAL, "seconds of all processors since boot, nice included")                               \
    C(sample, system, REAL, "interrupts included")                                                             \
    C(sample, idle, REAL, "")                                                                                  \
    C(sample, iowait, REAL, "")                                                                                \
    C(sample, steal, REAL, "taken by the hypervisor")                                                          \
    C(sample, running, INT, "tasks that ran or waited for a processor")                                        \
    C(sample, executor_cpu, REAL, "seconds that the executor's threads ran, NULL: there was none")             \
    C(sample, executor_wait, REAL, "seconds that they waited for a processor")
#define BB_COLUMNS_PICTURE(C)                                                                                  \
    C(picture, time_ns, INT, "")                                                                               \
    C(picture, name, TEXT, "")                                                                                 \
    C(picture, width, INT, "")                                                                                 \
    C(picture, height, INT, "")                                                                                \
    C(picture, png, BLOB, "")
#define BB_COLUMNS_FILE(C)                                                                                     \
    C(file, name, TEXT, "")                                                                                    \
    C(file, kind, TEXT, "recording")                                                                           \
    C(file, size, INT, "bytes of all parts")                                                                   \
    C(file, part, INT, "from 0: a file is the bytes of its parts one after another")                           \
    C(file, bytes, BLOB, "")
#define BB_COLUMNS_REPLAY(C)                                                                                   \
    C(replay, time, TEXT, "UTC")                                                                               \
    C(replay, markers, TEXT, "groups or exact")                                                                \
    C(replay, tries, INT, "how often it was played")                                                           \
    C(replay, crashed, INT, "1: it crashed again")                                                             \
    C(replay, same, INT, "1: at the same command")                                                             \
    C(replay, text, TEXT, "what happened")
#define BB_COLUMNS_CHECKSUM(C)                                                                                 \
    C(checksum, name, TEXT, "of the table")                                                                    \
    C(checksum, rows, INT, "that it has")                                                                      \
    C(checksum, hash, TEXT, "XXH3 (128 bits) of their values in order: type, size, bytes (src/base/file/seal.h)")   \
    C(checksum, marks, BLOB, "32 bits of the hash so far behind every nth row, little-endian; n: the least power of two that leaves 256 at most")
/* clang-format on */

enum bb_table {
#define BB_ROW(NAME, name, doc) BB_TABLE_##NAME,
    BB_TABLES(BB_ROW)
#undef BB_ROW
        BB_NUM_TABLES
};

/* BB_finding_text: the table in the upper bits, its column in the lower eight. */
enum bb_col {
#define BB_COL(table, name, type, doc) BB_##table##_##name,
#define BB_FIRST(NAME, name, doc)      BB_##name##_first_ = (BB_TABLE_##NAME << 8) - 1, BB_COLUMNS_##NAME(BB_COL)
    BB_TABLES(BB_FIRST)
#undef BB_FIRST
#undef BB_COL
        BB_NO_COL = -2
};

struct bb_package;

/* `limit` bytes at most, 0 for 512 MiB: rows beyond it are left out, and the dump says how many. */
int bb_package_create(struct bb_package **out, uint64_t limit);
void bb_package_destroy(struct bb_package *p);

/* A row: begin, the values that are known, each by its column, end. What is not given is NULL. Giving a value to a column of
 * another table, of another type, or twice, is a mistake of the program's: debug builds stop there, others leave the value
 * out. Text is cut at 1 MiB. Failures are kept and returned by bb_package_send. */
void bb_row(struct bb_package *p, enum bb_table table);
void bb_int(struct bb_package *p, enum bb_col column, int64_t value);
void bb_real(struct bb_package *p, enum bb_col column, double value);
/* One line: ends of lines become spaces, but in shader.text. */
void bb_text(struct bb_package *p, enum bb_col column,
             const char *text); /* NULL is a NULL value, for blobs too */
void bb_textf(struct bb_package *p, enum bb_col column, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
void bb_blob(struct bb_package *p, enum bb_col column, const void *bytes, size_t size);
void bb_row_end(struct bb_package *p);
void bb_meta(struct bb_package *p, const char *key, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

struct bb_send_params {
    const char *path; /* of the dump; must not exist */
    /* The program aerogpu-dumper; NULL: $AEROGPU_DUMPER, else where it was built or installed. */
    const char *dumper;
    uint32_t timeout_ms; /* the process is killed after it; 0 for 10 000 */
};

/* Makes the dump and waits for it: the file is there, whole, when this returns 0. -EEXIST: something has its name. */
int bb_package_send(struct bb_package *p, const struct bb_send_params *params, struct bb_error *e);

/* ---- reports ------------------------------------------------------------- */

enum bb_report_format { BB_REPORT_TEXT, BB_REPORT_JSON, BB_REPORT_HTML, BB_REPORT_PERFETTO };

/* Reads the dump at `path` and writes the report. A dump that is damaged, or of another version, is reported as far as it
 * can be read, and `e` says what is wrong with it: then the result is -EBADMSG or -EPROTONOSUPPORT. */
int bb_report(const char *path, enum bb_report_format format, FILE *out, struct bb_error *e);

/* ---- Vulkan programs --------------------------------------------------------
 *
 * What `aerogpu run` does, for a program that does it itself (docs/run.md): the layer keeps what the program does with Vulkan,
 * and a process that is not its child watches, so that a dump is made whatever becomes of the program.
 *
 *   bb_vk_start ──▶ vkCreateInstance with bb_vk_layer() among its layers ──▶ bb_vk_attach a device ──▶ … ──▶ bb_vk_stop
 *
 * Calls are seen by the layer, which the loader puts between: bb_vk_start() tells the loader where it is (VK_ADD_LAYER_PATH of
 * this process), and the layer where its record goes. What the program did before, or does without the layer, is not seen.
 * The functions take any thread, but start and stop. Where something that they need is NULL they answer -EINVAL; in a process that
 * the program forked, which nobody watches, -ECHILD (and bb_vk_status() UNKNOWN in both). In a program that `aerogpu run` started it makes the dumps: there is no
 * process of the library's, no callback, and bb_vk_collect() answers -EBUSY. samples/vulkan.c uses all of it.
 */
struct VkDevice_T;
struct VkCommandBuffer_T;
struct bb_vk;
struct bb_vk_description;

struct bb_vk_params {
    const char *dumps;   /* folder; NULL: the current one. It must be there */
    uint32_t timeout_ms; /* a device that makes no progress for so long hangs, and is lost; 0 for 10 000 */
    bool exact, guard; /* as of `aerogpu run`: each command is marked; memory lies between pages that fault */
    /* Something crashed, and the dump is about to be made: bb_vk_describe() adds to it. May be NULL. */
    void (*on_describe)(void *ctx, struct bb_vk_description *d);
    /* The dump is at `path`. May be NULL. */
    void (*on_dump)(void *ctx, const char *path);
    /* Both come from a thread of the library's. The thread that crashed, if the program has it yet, waits for three seconds at
     * most, and may hold any lock: callbacks should take none, and be brief. A program that was killed gets none. */
    void *ctx;
};

/* Once in a process, before its first instance is made, and before other threads read the environment. -EALREADY: a second time.
 * -ENOENT: the layer or the watching process is not installed; or what the system said. One that failed leaves nothing behind but the
 * loaded layer, and may be tried again. */
int bb_vk_start(struct bb_vk **out, const struct bb_vk_params *params, struct bb_error *e);
/* Ends the watching: from now on nothing makes dumps. NULL is legal. The layer stays in the program. Not from a callback. In a process
 * that the program forked it frees what that has a copy of, and the watching goes on. */
void bb_vk_stop(struct bb_vk *b);
/* For VkInstanceCreateInfo.ppEnabledLayerNames. */
const char *bb_vk_layer(void);

/* Whether the device's calls are seen. 0; -ENODEV: its instance was made without the layer; -ENOSPC: there was no room for a
 * record, or for one more device (of 16 at a time). */
int bb_vk_attach(struct bb_vk *b, struct VkDevice_T *device, struct bb_error *e);

/* Puts a checkpoint into a command buffer that is being recorded, also within a render pass, which is cut there where it can be:
 * the device marks that it came here, so that a crash lies between two of them, and the report has their names. Of `name` 59 bytes
 * are kept; other tools see a label of VK_EXT_debug_utils. -ENODEV: the command buffer is not known. */
int bb_vk_checkpoint(struct bb_vk *b, struct VkCommandBuffer_T *command_buffer, const char *name);

/* ACTIVE, or what became of the device; UNKNOWN: it is lost, and there is no dump (yet) that says why. */
enum bb_status bb_vk_status(struct bb_vk *b, struct VkDevice_T *device);

struct bb_vk_page_fault {
    uint64_t address;
    char kind[32];      /* of bb_fault_kind_name() */
    char access[16];    /* "read", "write", "execute", "" not known */
    uint64_t distance;  /* out of bounds by so many bytes */
    char resource[128]; /* 'buffer "particles"', "" none */
    char text[300];     /* a sentence */
};

/* Of the last dump. -ENOENT: it is of none, or there is none. -EBADMSG, -EPROTONOSUPPORT: it cannot be read. */
int bb_vk_page_fault(struct bb_vk *b, struct bb_vk_page_fault *out);

/* Adds a line to the dump that is about to be made, in table `meta` as "app.KEY". 64 lines, of 1 000 bytes each. Without a key
 * nothing is added. */
void bb_vk_describe(struct bb_vk_description *d, const char *key, const char *text);

/* A dump of what there is now, though nothing crashed. Waits for it, and for on_describe and on_dump, which are called as well;
 * fills `path` (`size` bytes; may be NULL). Threads that ask while one is being made are given that one. -EDEADLK: from a callback;
 * -EBUSY: `aerogpu run` watches; -ETIMEDOUT: not within ten seconds; -ERANGE: there is a dump, whose path does not fit; -EIO: `e`
 * says why there is none. */
int bb_vk_collect(struct bb_vk *b, char *path, size_t size, struct bb_error *e);

/* ---- flight recorder --------------------------------------------------------
 *
 * A ring of fixed-size events in a file that is mapped into memory: recording one is a few stores, no lock, no system call.
 * What was recorded is in the file at once, whatever then happens to the process. Any thread, also in a signal handler.
 */
struct bb_flight;

struct bb_flight_params {
    const char *directory; /* NULL: $AEROGPU_FLIGHT, else /dev/shm/aerogpu-UID; made if missing */
    const char *name;      /* of the process's part: "executor", 31 bytes of it */
    uint32_t events;       /* room, a power of two; 0 for 16 384 */
};

/* Event names are registered once, and belong to the file. 0..255. */
int bb_flight_open(struct bb_flight **out, const struct bb_flight_params *params, struct bb_error *e);
int bb_flight_name(struct bb_flight *f, uint8_t event, const char *name); /* "doorbell(tail, entries)" */
void bb_flight_event(struct bb_flight *f, uint8_t event, uint64_t a, uint64_t b,
                     uint64_t c); /* f NULL: nothing */
/* The recorder of this process, where AEROGPU_FLIGHT names a folder; else NULL, and events cost nothing. */
struct bb_flight *bb_flight_of_process(const char *name);
void bb_flight_close(struct bb_flight *f); /* the file stays; NULL is legal */
const char *bb_flight_path(const struct bb_flight *f);
int bb_flight_fd(
    const struct bb_flight *f); /* to be mapped by another process, which then bb_flight_attach()es */
int bb_flight_attach(struct bb_flight **out, int fd, struct bb_error *e);

struct bb_flight_record {
    uint64_t time_ns, number; /* of the event in its file, from 0 */
    uint32_t pid, thread;
    const char *process, *name;
    uint8_t event;
    uint64_t a, b, c;
};

/* Calls back for every event that can be read, oldest first. Half-written events are left out. Returns how many there
 * were, or -EBADMSG, -EPROTONOSUPPORT or the system's errno. */
int64_t bb_flight_read(const char *path, void (*each)(void *ctx, const struct bb_flight_record *r), void *ctx,
                       struct bb_error *e);
/* The same of all files of a directory, in order of time, from `since_ns` on. Files that cannot be read are skipped and
 * counted in `*bad` (may be NULL). */
int64_t bb_flight_read_all(const char *directory, uint64_t since_ns,
                           void (*each)(void *ctx, const struct bb_flight_record *r), void *ctx,
                           uint32_t *bad);

#ifdef __ELF__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
