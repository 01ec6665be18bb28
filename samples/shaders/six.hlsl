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
