/* SPDX-License-Identifier: MIT */
#pragma once

enum { SCENE_FRAMES = 40 };

/* Draws them and prints the microseconds of processor time that a frame takes; 1: there is no device. */
int scene_draws(void);
