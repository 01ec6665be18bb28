// SPDX-License-Identifier: MIT
// webgpu.mjs FOLDER FRAMES: WebGPU in node, by Dawn (FOLDER: the npm package webgpu). Each frame computes, draws what was computed, and prints what it read back.
const { create, globals } = await import(process.argv[2] + '/index.js');
Object.assign(globalThis, globals);
globalThis.gpu = create([]);
const adapter = await gpu.requestAdapter();
if (!adapter) { console.log('no adapter'); process.exit(3); }
const d = await adapter.requestDevice(), N = 64, frames = +process.argv[3];
const m = d.createShaderModule({ code: `
@vertex fn v(@builtin(vertex_index) i: u32) -> @builtin(position) vec4f { return vec4f(f32(i % 2) * 1.6 - .8, f32(i / 2) * 1.4 - .7, 0, 1); }
@group(0) @binding(0) var<storage, read> c: array<f32>;
@fragment fn f(@builtin(position) p: vec4f) -> @location(0) vec4f { return vec4f(fract(p.xy / 17), fract(c[u32(p.x)]), 1); }
@group(0) @binding(0) var<storage, read_write> o: array<f32>;
@compute @workgroup_size(64) fn k(@builtin(global_invocation_id) g: vec3u) { o[g.x] = o[g.x] + f32(g.x) * .013; }` });
const t = d.createTexture({ size: [N, N], format: 'rgba8unorm', usage: 17 }), s = d.createBuffer({ size: 4 * N, usage: 128 });
const back = d.createBuffer({ size: 256 * N, usage: 9 });
const draw = d.createRenderPipeline({ layout: 'auto', vertex: { module: m, entryPoint: 'v' }, fragment: { module: m, entryPoint: 'f', targets: [{ format: 'rgba8unorm' }] } });
const kernel = d.createComputePipeline({ layout: 'auto', compute: { module: m, entryPoint: 'k' } });
const group = p => d.createBindGroup({ layout: p.getBindGroupLayout(0), entries: [{ binding: 0, resource: { buffer: s } }] }), a = group(kernel), b = group(draw);
for (let i = 0; i < frames; i++) {
  const e = d.createCommandEncoder(), c = e.beginComputePass();
  c.setPipeline(kernel); c.setBindGroup(0, a); c.dispatchWorkgroups(1); c.end();
  const r = e.beginRenderPass({ colorAttachments: [{ view: t.createView(), loadOp: 'clear', storeOp: 'store' }] });
  r.setPipeline(draw); r.setBindGroup(0, b); r.draw(3); r.draw(3, 1, 1); r.end();
  e.copyTextureToBuffer({ texture: t }, { buffer: back, bytesPerRow: 256 }, [N, N]);
  d.queue.submit([e.finish()]);
  await back.mapAsync(1);
  let h = 0; for (const x of new Uint8Array(back.getMappedRange())) h = (h * 31 + x) >>> 0;
  back.unmap();
  console.log(i, h);
}
process.exit(0);
