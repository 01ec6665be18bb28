// Direct3D 9 scene: vs_2_0 with ps_2_0, and the same in shader model 3.
float4x4 world_view_projection : register(c0);
float4x4 world : register(c4);
float4 light : register(c8);     // towards the light
float4 material : register(c9);

sampler2D diffuse_map : register(s0);
float4 fade : register(c0);

struct vertex
{
    float4 position : POSITION;
    float3 normal : NORMAL;
    float2 uv : TEXCOORD0;
};

struct varying
{
    float4 position : POSITION;
    float4 colour : COLOR0;
    float2 uv : TEXCOORD0;
};

varying lit_vs(vertex v)
{
    varying o;
    float3 n = mul((float3x3)world, v.normal);

    o.position = mul(world_view_projection, v.position);
    o.colour = float4(material.rgb * (0.25 + 0.75 * saturate(dot(n, light.xyz))), material.a);
    o.uv = v.uv;
    return o;
}

float4 textured_ps(float4 colour : COLOR0, float2 uv : TEXCOORD0) : COLOR0
{
    return tex2D(diffuse_map, uv) * colour * fade;
}

float4 bias_ps(float4 colour : COLOR0, float2 uv : TEXCOORD0) : COLOR0
{
    return tex2Dbias(diffuse_map, float4(uv, 0.0, 1.0)) * colour;
}

struct plain
{
    float4 position : POSITION;
    float4 colour : COLOR0;
};

plain colour_vs(float4 position : POSITION, float4 colour : COLOR0)
{
    plain o;
    o.position = position;
    o.colour = colour;
    return o;
}

float4 colour_ps(float4 colour : COLOR0) : COLOR0
{
    return colour;
}

struct two
{
    float4 first : COLOR0;
    float4 second : COLOR1;
};

two targets_ps(float4 colour : COLOR0)
{
    two o;
    o.first = colour;
    o.second = colour.bgra;
    return o;
}

// A checkerboard of 8 by 8 pixels, one colour per side of the triangle.
float4 sides_ps(float2 at : VPOS, float side : VFACE) : COLOR0
{
    float2 cell = frac(floor(at / 8.0) * 0.5);
    float even = abs(cell.x - cell.y) * 2.0;

    return side > 0.0 ? float4(even, 1.0 - even, 0.0, 1.0) : float4(0.0, even, 1.0, 1.0);
}
