/* SPDX-License-Identifier: MIT */
/* play_wine_host.c: what Wine starts: built by winegcc, as a program of Wine's kind. It loads the player, an ELF library,
 * which the environment names, and hands it the two functions that all others of Windows can be had with. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#define WINAPI __attribute__((ms_abi))

extern void *WINAPI LoadLibraryA(const char *name);
extern void *WINAPI GetProcAddress(void *module, const char *name);

struct play_windows { /* as in play_on.h, which this cannot include: Wine's compiler has types of its own */
    void *(WINAPI *load_library)(const char *name);
    void *(WINAPI *get_proc_address)(void *module, const char *name);
};

int main(void)
{
    static const struct play_windows windows = {LoadLibraryA, GetProcAddress};
    const char *path = getenv("AEROGPU_D3D12_WINE_PLAYER");
    void *player = path ? dlopen(path, RTLD_NOW) : NULL;
    int (*run)(const struct play_windows *w) = NULL;

    if (player)
        *(void **)&run = dlsym(player, "d3d12_wine_main");
    if (run)
        return run(&windows);
    fprintf(stderr, "aerogpu play: %s\n",
            path ? dlerror() : "this program is started by aerogpu play --on wine");
    return 4;
}
