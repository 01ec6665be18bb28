#version 450
// SPDX-License-Identifier: MIT
// Reads and writes what lies at an address through every layout that there is; stores to no address if something is not as it should be.
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
layout(local_size_x = 1) in;
struct Inner { vec3 a; float b; mat2x3 m; };
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Words { uint v[]; };
layout(buffer_reference, std430, buffer_reference_align = 16) buffer Columns { float before; mat4x3 m[3]; };
layout(buffer_reference, std430, buffer_reference_align = 16, row_major) buffer Rows { float before; mat4x3 m[3]; };
layout(buffer_reference, std430, buffer_reference_align = 16) buffer Nested { Inner x[2]; uint tail; };
layout(buffer_reference, std430, buffer_reference_align = 8) buffer Cell { uint value; uint more; };
layout(buffer_reference, std430, buffer_reference_align = 8) buffer Link { Cell cell; uint value; };
layout(set = 0, binding = 0) uniform Params { uvec2 address; uint one; };
void expect(bool is)
{
    if (!is)
        Words(address - address).v[0] = 1;
}
void main()
{
    Words w = Words(address);
    Columns c = Columns(address);
    Rows r = Rows(address);
    Nested n = Nested(address);
    Link first = Link(address), second = Link(uvec2(address.x + 64, address.y));
    mat4x3 m;

    for (uint i = 0; i < 64; i++)
        w.v[i] = floatBitsToUint(float(i));
    m = c.m[one]; // at 16 + 64: four columns of three on 16 bytes each
    expect(m[0] == vec3(20, 21, 22) && m[3] == vec3(32, 33, 34) && c.m[one][2].y == 29 && c.m[0][one] == vec3(8, 9, 10));
    m = r.m[one]; // at 16 + 48: three rows of four
    expect(m[0] == vec3(16, 20, 24) && m[3] == vec3(19, 23, 27) && r.m[one][2].y == 22 && r.m[0][one] == vec3(5, 9, 13));
    expect(n.x[one].a == vec3(12, 13, 14) && n.x[one].b == 15 && n.x[one].m[1] == vec3(20, 21, 22) && n.tail == floatBitsToUint(24.0));
    r.m[2][3] = vec3(1, 2, 3);
    expect(w.v[31] == floatBitsToUint(1.0) && w.v[35] == floatBitsToUint(2.0) && w.v[39] == floatBitsToUint(3.0));
    c.m[0] = mat4x3(9);
    expect(w.v[4] == floatBitsToUint(9.0) && w.v[9] == floatBitsToUint(9.0) && w.v[5] == 0);
    first.cell = Cell(uvec2(address.x + 128, address.y));
    second.cell = first.cell;
    second.cell.value = 3;
    expect(atomicAdd(first.cell.value, 4) == 3 && w.v[32] == 7 && w.v[1023] == w.v[1022]);
}
