/* collect_wine.h: recording a Windows program that runs under Wine.
 *
 * Windows looks for a program's libraries in the program's folder first. So that nothing is written there, and nothing
 * in the user's prefix, the program is started from a private folder: links to everything in its own, and the
 * recorder's d3d12.dll and dxgi.dll. Afterwards the folder is removed; files that the program made in it move to where
 * they would have been.
 */
#ifndef D3D12_COLLECT_WINE_H_
#define D3D12_COLLECT_WINE_H_

#include <stdbool.h>

#include "base/error.h"

struct wine_run {
    char **argv;                /* what to run instead */
    char *folder;               /* the private one */
    char *origin;               /* the program's own */
    int lock;                   /* held on `folder` */
    char *own_d3d12, *own_dxgi; /* such a library beside the program, or NULL */
};

/* Whether the command runs a Windows program: `wine PROGRAM...`, or a file that ends in .exe. */
bool wine_command(char *const *argv);
int wine_prepare(struct wine_run *w, char *const *argv, const char *dll_dir, struct error *e);
/* In the child, before it becomes the program. */
void wine_environment(const struct wine_run *w);
void wine_finish(struct wine_run *w);

#endif
