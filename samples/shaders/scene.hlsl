// A lit, textured object. vs_4_0 and ps_4_0.
cbuffer object : register(b0)
{
    float4x4 world;
    float4x4 view_projection;
};

cbuffer light : register(b1)
{
    float4 direction; // towards the light, normalised
    float4 diffuse;
    float4 ambient;
    float4 tint;      // .a is the opacity
};

Texture2D albedo : register(t0);
SamplerState linear_wrap : register(s0);

struct vertex
{
    float3 position : POSITION;
    float3 normal : NORMAL;
    float2 uv : TEXCOORD0;
};

struct varying
{
    float4 position : SV_Position;
    float3 normal : NORMAL;
    float2 uv : TEXCOORD0;
};

varying scene_vs(vertex v)
{
    varying o;
    float4 p = mul(world, float4(v.position, 1.0));

    o.position = mul(view_projection, p);
    o.normal = mul(world, float4(v.normal, 0.0)).xyz;
    o.uv = v.uv;
    return o;
}

float4 scene_ps(varying v) : SV_Target
{
    float4 colour = albedo.Sample(linear_wrap, v.uv);
    float n = saturate(dot(normalize(v.normal), direction.xyz));

    return float4(colour.rgb * (ambient.rgb + diffuse.rgb * n), colour.a) * tint;
}
