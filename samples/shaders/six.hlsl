/* SPDX-License-Identifier: MIT */
/* A pixel shader of model 6: DXIL. */
cbuffer Tint : register(b1, space2) { float4 tint; };
Texture2D<float4> picture : register(t3);
SamplerState smooth_one : register(s0);
RWStructuredBuffer<uint> counter : register(u4);

float4 six_ps(float4 p : SV_Position, float2 uv : TEXCOORD) : SV_Target
{
    if (uv.x > 0.5)
        counter[0] = 1;
    return picture.Sample(smooth_one, uv) * tint;
}

/* One of everything that a constant buffer can have. */
struct Light { float3 at; float strength; float2x3 turn; };
cbuffer Scene : register(b0)
{
    float4x4 view;
    row_major float3x2 flat_one;
    Light lights[2];
    int4 counts;
    float scales[3];
    bool on;
    uint2 pair;
};
struct Material { float4 tint; uint kind; };
ConstantBuffer<Material> materials[4] : register(b2, space1);
StructuredBuffer<Material> list : register(t0, space1);
RWByteAddressBuffer sums : register(u0);
groupshared float shared_one[64];

#define ROOT "CBV(b0), DescriptorTable(CBV(b2, numDescriptors = 4, space = 1)), SRV(t0, space = 1), UAV(u0)"

[RootSignature(ROOT)]
[numthreads(8, 4, 2)]
void six_cs(uint3 id : SV_DispatchThreadID, uint i : SV_GroupIndex)
{
    shared_one[i] = scales[id.x % 3];
    GroupMemoryBarrierWithGroupSync();
    float4 v = mul(view, list[id.x].tint) * materials[id.y % 4].tint + lights[id.z % 2].at.xyzz;
    v += lights[1].turn[1].xyzz + counts + (on ? flat_one[2].xyxy : pair.xyxy) + shared_one[63 - i];
    sums.Store4(id.x * 16, asuint(v));
}
