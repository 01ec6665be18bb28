/* SPDX-License-Identifier: MIT */
#pragma once
#include "../linux_call.h"
