/* collect.h: `aerogpu d3d12 record`: runs a program with the recorder in front and writes what it leaves in shared
 * memory (shm.h) into a file. */
#ifndef D3D12_COLLECT_H_
#define D3D12_COLLECT_H_

#include <stdint.h>

#include "base/error.h"

struct collect_params {
    const char *output;   /* the file to write */
    const char *recorder; /* path of the library that is loaded into the program */
    const char *wine_dir; /* where the recorder's DLLs for Windows programs are, or NULL */
    char *const *argv;    /* the program, NULL-terminated */
    uint32_t hash_every;  /* 0: no frame hashes */
    uint32_t dirty_method;
    uint32_t last_frame; /* nothing that was begun after this frame is written; UINT32_MAX: all is */
};

struct collect_result {
    int status; /* of the program, as waitpid() gives it */
    uint64_t bytes, blocks;
    uint32_t frames, objects, threads;
};

/* Returns when the program has ended and the file is complete. */
int collect_run(const struct collect_params *p, struct collect_result *r, struct error *e);

#endif
