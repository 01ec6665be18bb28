#version 450
// SPDX-License-Identifier: MIT
// Stores outside of arrays of its own, at an index that constant buffer 0 names; then goes on.
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) uniform Params { uint index; uint wide; };
shared uint group[4];
shared uvec4 rows[3][5];
uint own[8];
void main()
{
    uint here[16];

    for (uint i = 0; i < 16; i++)
        here[i] = i;
    group[index] = 7;
    rows[index][wide] = uvec4(index);
    rows[1][2][wide] = 9;
    own[index] = 8;
    here[wide] = 9;
    if (group[wide] + own[wide] + here[index] + rows[wide][index].x == 0xdeadbeef)
        group[index + 1] = here[index];
}
