/* SPDX-License-Identifier: MIT */
/* fault.h: what faults in a driver's image.
 *
 *  - instructions that image/emulate.h knows are done, and the driver goes on;
 *  - INT 2Ch (a failed NT_ASSERT) and breakpoints are violations, and the driver goes on;
 *  - anything else ends the program as it would have, after a line that says where in which image and on what.
 * Faults elsewhere go to who had them before.
 */
#pragma once

#include "base/error.h"

/* Once in a process; more often is legal. 0 or a negative errno. */
int dxgk_image_faults_start(struct error *e);
