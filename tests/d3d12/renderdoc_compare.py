#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""What `aerogpu show --state` and `play --pixel` say of the draws of a frame, against what RenderDoc's replay says of the Vulkan calls
that the player makes for it (packages renderdoc, python3-renderdoc; by hand: docs/d3d12.md).

    renderdoc_compare.py AEROGPU [--frame N] [--pixels K] [--draws N] RECORDING...

Draws are matched by their order in the frame. Compared are counts and offsets, topology, viewports, scissors, rasterizer, depth,
stencil and blend states, target sizes, the first vertices' values, every variable of every constant buffer, sizes of the textures that
are read, and for K pixels which draws changed them. Exit code 1: something differs."""
import argparse
import glob
import json
import os
import random
import re
import struct
import subprocess
import sys

try:
    import renderdoc as rd
except ImportError:
    rd = None

LIBRARY = '/usr/lib/librenderdoc.so'
TOPOLOGY = {'POINTLIST': 'PointList', 'LINELIST': 'LineList', 'LINESTRIP': 'LineStrip', 'TRIANGLELIST': 'TriangleList',
            'TRIANGLESTRIP': 'TriangleStrip'}
FUNC = {'NEVER': 'Never', 'LESS': 'Less', 'EQUAL': 'Equal', 'LESS_EQUAL': 'LessEqual', 'GREATER': 'Greater',
        'NOT_EQUAL': 'NotEqual', 'GREATER_EQUAL': 'GreaterEqual', 'ALWAYS': 'AlwaysTrue'}
BLEND = {'ZERO': 'Zero', 'ONE': 'One', 'SRC_COLOR': 'SrcCol', 'INV_SRC_COLOR': 'InvSrcCol', 'SRC_ALPHA': 'SrcAlpha',
         'INV_SRC_ALPHA': 'InvSrcAlpha', 'DEST_ALPHA': 'DstAlpha', 'INV_DEST_ALPHA': 'InvDstAlpha', 'DEST_COLOR': 'DstCol',
         'INV_DEST_COLOR': 'InvDstCol', 'SRC_ALPHA_SAT': 'SrcAlphaSat', 'BLEND_FACTOR': 'FactorRGB',
         'INV_BLEND_FACTOR': 'InvFactorRGB'}
STENCIL = {'KEEP': 'Keep', 'ZERO': 'Zero', 'REPLACE': 'Replace', 'INCR_SAT': 'IncSat', 'DECR_SAT': 'DecSat',
           'INVERT': 'Invert', 'INCR': 'IncWrap', 'DECR': 'DecWrap'}


def name(v):
    return v.name


def tail(v, prefix):
    return v[len(prefix):] if isinstance(v, str) and v.startswith(prefix) else v


def run(*args, **env):
    return subprocess.run([str(a) for a in args], capture_output=True, text=True, errors='replace',
                          env=dict(os.environ, **env), timeout=300)


class Draw:
    """What show --state --json says of one."""

    def __init__(self, text):
        self.states, self.constants, self.vertices, self.sizes, self.pso = {}, [], [], set(), {}
        for line in text.splitlines():
            j = json.loads(line)
            role, call = j['role'], j.get('call')
            if role == 'call':
                self.method, self.args = call['method'], call['args']
            elif role == 'state':
                self.states.setdefault(call['method'], call['args'])
            elif role == 'object' and call['method'] == 'CreateGraphicsPipelineState':
                self.pso = call['args']['pDesc']
            elif role == 'constants':
                self.constants.append(j)
            elif role == 'vertex':
                self.vertices.append(j)
            elif role == 'resource' and call and isinstance(call['args'].get('pDesc'), dict):
                d = call['args']['pDesc']
                self.sizes.add((d['Width'], d['Height']))


class Frame:
    """RenderDoc's replay of one capture."""

    def __init__(self, path):
        self.cap = rd.OpenCaptureFile()
        if self.cap.OpenFile(path, '', None) != rd.ResultCode.Succeeded:
            raise SystemExit(path + ': RenderDoc cannot open it')
        result, self.c = self.cap.OpenCapture(rd.ReplayOptions(), None)
        if result != rd.ResultCode.Succeeded:
            raise SystemExit('%s: RenderDoc cannot replay it: %s' % (path, result))
        self.draws = []
        self.walk(self.c.GetRootActions())
        self.textures = {str(t.resourceId): t for t in self.c.GetTextures()}

    def walk(self, actions):
        for a in actions:
            if a.flags & rd.ActionFlags.Drawcall:
                self.draws.append(a)
            self.walk(a.children)


def near(a, b):
    if a is None or b is None:
        return True  # what shaders wrote is not in a recording
    if isinstance(a, str) or isinstance(b, str):
        return True  # a NaN
    return a == b or abs(a - b) <= 1e-5 * max(abs(a), abs(b))


class Compare:
    def __init__(self):
        self.draws = self.facts = 0
        self.wrong = []
        self.skipped = {}

    def skip(self, why):
        self.skipped[why] = self.skipped.get(why, 0) + 1

    def same(self, where, what, ours, theirs):
        self.facts += 1
        if ours != theirs and not (isinstance(ours, float) and near(ours, float(theirs))):
            self.wrong.append('%s: %s: %s, RenderDoc has %s' % (where, what, ours, theirs))

    def draw(self, where, d, a, f):
        self.draws += 1
        f.c.SetFrameEvent(a.eventId, False)
        v, p = f.c.GetVulkanPipelineState(), f.c.GetPipelineState()
        indexed = d.method == 'DrawIndexedInstanced'
        g = d.args
        if d.method.startswith('Draw'):
            self.same(where, 'count', g['IndexCountPerInstance' if indexed else 'VertexCountPerInstance'], a.numIndices)
            self.same(where, 'instances', g['InstanceCount'], a.numInstances)
            self.same(where, 'first instance', g['StartInstanceLocation'], a.instanceOffset)
            if indexed:
                self.same(where, 'base vertex', g['BaseVertexLocation'], a.baseVertex)
                self.same(where, 'first index', g['StartIndexLocation'], a.indexOffset)
            else:
                self.same(where, 'first vertex', g['StartVertexLocation'], a.vertexOffset)
        t = tail(d.states.get('IASetPrimitiveTopology', {}).get('PrimitiveTopology'), 'D3D_PRIMITIVE_TOPOLOGY_')
        if t in TOPOLOGY:
            self.same(where, 'topology', TOPOLOGY[t], name(v.inputAssembly.topology))
        self.areas(where, d, v)
        self.fixed(where, d, v)
        self.targets(where, d, p, f)
        self.values(where, d, p, f)
        self.constant_values(where, d, p, f)

    def areas(self, where, d, v):
        views = d.states.get('RSSetViewports', {}).get('pViewports', [])
        rects = d.states.get('RSSetScissorRects', {}).get('pRects', [])
        theirs = v.viewportScissor.viewportScissors
        for i, x in enumerate(views[:len(theirs)]):
            w = theirs[i].vp
            for ours, n in ((x['TopLeftX'], 'x'), (x['Width'], 'width'), (x['MinDepth'], 'minDepth'), (x['MaxDepth'], 'maxDepth')):
                self.same(where, 'viewport %d %s' % (i, n), float(ours), getattr(w, n))
            # upside down: Vulkan's way of Direct3D's coordinates
            self.same(where, 'viewport height', float(x['Height']), abs(w.height))
        for i, x in enumerate(rects[:len(theirs)]):
            s = theirs[i].scissor
            self.same(where, 'scissor', (x['left'], x['top'], x['right'] - x['left'], x['bottom'] - x['top']),
                      (s.x, s.y, s.width, s.height))

    def fixed(self, where, d, v):
        r = d.pso.get('RasterizerState')
        if r:
            self.same(where, 'cull', {'NONE': 'NoCull', 'FRONT': 'Front', 'BACK': 'Back'}[tail(r['CullMode'], 'D3D12_CULL_MODE_')],
                      name(v.rasterizer.cullMode))
            self.same(where, 'fill', {'SOLID': 'Solid', 'WIREFRAME': 'Wireframe'}[tail(r['FillMode'], 'D3D12_FILL_MODE_')],
                      name(v.rasterizer.fillMode))
            self.same(where, 'front', bool(r['FrontCounterClockwise']), bool(v.rasterizer.frontCCW))
        z = d.pso.get('DepthStencilState')
        if z and d.pso.get('DSVFormat') not in (None, 'DXGI_FORMAT_UNKNOWN'):
            self.same(where, 'depth test', bool(z['DepthEnable']), v.depthStencil.depthTestEnable)
            if z['DepthEnable']:
                self.same(where, 'depth write', tail(z['DepthWriteMask'], 'D3D12_DEPTH_WRITE_MASK_') == 'ALL',
                          v.depthStencil.depthWriteEnable)
                self.same(where, 'depth function', FUNC[tail(z['DepthFunc'], 'D3D12_COMPARISON_FUNC_')],
                          name(v.depthStencil.depthFunction))
            self.same(where, 'stencil test', bool(z['StencilEnable']), v.depthStencil.stencilTestEnable)
            if z['StencilEnable']:
                ff, ours = v.depthStencil.frontFace, z['FrontFace']
                for n, m in (('StencilFailOp', 'failOperation'), ('StencilPassOp', 'passOperation'),
                             ('StencilDepthFailOp', 'depthFailOperation')):
                    self.same(where, n, STENCIL[tail(ours[n], 'D3D12_STENCIL_OP_')], name(getattr(ff, m)))
                self.same(where, 'stencil function', FUNC[tail(ours['StencilFunc'], 'D3D12_COMPARISON_FUNC_')], name(ff.function))
                ref = d.states.get('OMSetStencilRef', {}).get('StencilRef', 0)
                self.same(where, 'stencil reference', ref, ff.reference)
        blends = d.pso.get('BlendState', {}).get('RenderTarget', [])
        for i in range(min(d.pso.get('NumRenderTargets', 0), len(v.colorBlend.blends))):
            ours = blends[i if d.pso['BlendState']['IndependentBlendEnable'] else 0]
            b = v.colorBlend.blends[i]
            self.same(where, 'blend %d' % i, bool(ours['BlendEnable']), b.enabled)
            self.same(where, 'write mask', int(ours['RenderTargetWriteMask']) & 15 if isinstance(
                ours['RenderTargetWriteMask'], int) else 15, b.writeMask)
            if ours['BlendEnable']:
                self.same(where, 'source', BLEND[tail(ours['SrcBlend'], 'D3D12_BLEND_')], name(b.colorBlend.source))
                self.same(where, 'destination', BLEND[tail(ours['DestBlend'], 'D3D12_BLEND_')], name(b.colorBlend.destination))

    def targets(self, where, d, p, f):
        for stage in (rd.ShaderStage.Pixel, rd.ShaderStage.Vertex):
            for array in p.GetReadOnlyResources(stage, True):
                for r in array.resources:
                    t = f.textures.get(str(r.resourceId))
                    if t and (t.width, t.height) == (1, 1) and (1, 1) not in d.sizes:
                        self.skip('1x1 textures that libvkd3d binds where a descriptor is nothing')
                    elif t:
                        self.facts += 1
                        if (t.width, t.height) not in d.sizes:
                            self.wrong.append('%s: a texture of %dx%d is read, which is not named' % (where, t.width, t.height))
        for r in p.GetOutputTargets():
            t = f.textures.get(str(r.resourceId))
            if t:
                self.facts += 1
                if (t.width, t.height) not in d.sizes:
                    self.wrong.append('%s: the target of %dx%d is not named' % (where, t.width, t.height))

    def values(self, where, d, p, f):
        inputs = [x for x in p.GetVertexInputs() if not x.perInstance and not x.genericEnabled]
        inputs.sort(key=lambda x: (x.vertexBuffer, x.byteOffset))
        vbs = p.GetVBuffers()
        if not inputs or len(d.vertices) < 1 or any(x.vertexBuffer >= len(vbs) for x in inputs):
            return
        for row in d.vertices:
            if len(row['elements']) != len(inputs):
                self.skip('vertices with elements that no shader reads')
                return
            for e, x in zip(row['elements'], inputs):
                if name(x.format.compType) != 'Float' or x.format.compByteWidth != 4:
                    continue
                vb, n = vbs[x.vertexBuffer], x.format.compCount
                at = vb.byteOffset + x.byteOffset + vb.byteStride * row['vertex']
                data = bytes(f.c.GetBufferData(vb.resourceId, at, 4 * n))
                if len(data) < 4 * n:
                    continue
                theirs = struct.unpack('<%df' % n, data)
                self.facts += 1
                if not all(near(o, t) for o, t in zip(e['values'], theirs)):
                    self.wrong.append('%s: vertex %d %s: %s, RenderDoc has %s' % (where, row['vertex'], e['semantic'], e['values'], theirs))

    def constant_values(self, where, d, p, f):
        for stage, ours in (('vertex', rd.ShaderStage.Vertex), ('pixel', rd.ShaderStage.Pixel)):
            refl = p.GetShaderReflection(ours)
            blocks = []
            for i in range(len(refl.constantBlocks) if refl else 0):
                b = p.GetConstantBuffer(ours, i, 0)
                inline = bytes(b.inlineData)
                blocks.append(inline if inline else bytes(f.c.GetBufferData(b.resourceId, b.byteOffset, min(b.byteSize, 65536))))
            for c in d.constants:
                if c['stage'] != stage or not c.get('variables'):
                    continue
                self.facts += 1
                if not any(self.block_is(c, b) for b in blocks):
                    self.wrong.append('%s: constant buffer %s: no bound block of RenderDoc\'s has these values' % (where, c.get('buffer')))

    @staticmethod
    def block_is(c, block):
        for x in c['variables']:
            vals = x['values']
            if x.get('by_column') or x.get('components', 4) == 4 or len(vals) <= x.get('components', 4):
                for i, v in enumerate(vals):
                    at = x['offset'] + 4 * i
                    if v is None or isinstance(v, str) or at + 4 > len(block):
                        continue
                    as_float, = struct.unpack_from('<f', block, at)
                    as_int, = struct.unpack_from('<i', block, at)
                    if not near(v, as_float) and v != as_int and v != as_int & 0xffffffff:
                        return False
        return True


def capture(aerogpu, recording, frame):
    r = run(aerogpu, 'play', '--loop-frame', frame, '--times', 3, recording, ENABLE_VULKAN_RENDERDOC_CAPTURE='1', LD_PRELOAD=LIBRARY)
    m = re.search(r"RenderDoc's capture of frame \d+: (\S.*)", r.stdout)
    return m and m.group(1)


def draws_of(aerogpu, recording, frame):
    out = []
    for line in run(aerogpu, 'show', '--json', '--frames', '%d-%d' % (frame, frame), recording).stdout.splitlines():
        j = json.loads(line)
        if j.get('method') in ('DrawInstanced', 'DrawIndexedInstanced'):
            out.append(j['call'])
    return out


def pixels(cmp, aerogpu, recording, frame, calls, f, count):
    targets = [f.textures.get(str(t)) for t in (f.draws[-1].outputs or [])]
    t = next((x for x in targets if x), None)
    if not t:
        return
    which = random.Random(1)
    for _ in range(count):
        x, y = which.randrange(t.width), which.randrange(t.height)
        theirs = set()
        for m in f.c.PixelHistory(t.resourceId, x, y, rd.Subresource(0, 0, 0), rd.CompType.Typeless):
            before, after = m.preMod.col.floatValue, m.postMod.col.floatValue
            if m.Passed() and list(before) != list(after):
                theirs.update(i for i, a in enumerate(f.draws) if a.eventId == m.eventId)
        r = run(aerogpu, 'play', '--pixel', '%d,%d' % (x, y), '--until-frame', frame, '--draws',
                '%d-%d' % (calls[0], calls[-1]), '--timeout', 60000, recording)
        if r.returncode:
            cmp.wrong.append('frame %d: pixel %d,%d: %s' % (frame, x, y, r.stderr.strip()[-200:]))
            continue
        ours = {calls.index(int(n)) for n in re.findall(r'^call (\d+)', r.stdout, re.M) if int(n) in calls}
        cmp.same('frame %d' % frame, 'pixel %d,%d: changed by draws' % (x, y), sorted(ours), sorted(theirs))


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument('aerogpu')
    ap.add_argument('recordings', nargs='+')
    ap.add_argument('--frame', type=int, default=10)
    ap.add_argument('--pixels', type=int, default=0)
    ap.add_argument('--draws', type=int, default=60, help='of each frame at most')
    o = ap.parse_args()
    if not rd or not os.path.exists(LIBRARY):
        print('RenderDoc and its Python module are not installed')
        return 77
    rd.InitialiseReplay(rd.GlobalEnvironment(), [])
    cmp = Compare()
    for recording in o.recordings:
        path = capture(o.aerogpu, recording, o.frame)
        calls = draws_of(o.aerogpu, recording, o.frame)
        if not path or not calls:
            print('%s: no capture' % recording if not path else '%s: frame %d draws nothing' % (recording, o.frame))
            continue
        f, before = Frame(path), (cmp.draws, cmp.facts, len(cmp.wrong))
        if len(f.draws) != len(calls):
            print('%s: %d draws, RenderDoc has %d' % (recording, len(calls), len(f.draws)))
        for i, (call, a) in enumerate(list(zip(calls, f.draws))[:o.draws]):
            d = Draw(run(o.aerogpu, 'show', '--state', call, '--json', recording).stdout)
            cmp.draw('%s call %d' % (os.path.basename(os.path.dirname(recording)) or recording, call), d, a, f)
        pixels(cmp, o.aerogpu, recording, o.frame, calls, f, o.pixels)
        f.c.Shutdown()
        f.cap.Shutdown()
        os.unlink(path)
        print('%s: %d draws, %d facts, %d differ' % (recording, cmp.draws - before[0], cmp.facts - before[1],
                                                     len(cmp.wrong) - before[2]))
        sys.stdout.flush()
    for w in cmp.wrong[:60]:
        print('  ' + w)
    for k, n in cmp.skipped.items():
        print('  not compared: %s (%d)' % (k, n))
    print('%d draws, %d facts, %d differ' % (cmp.draws, cmp.facts, len(cmp.wrong)))
    return 1 if cmp.wrong or not cmp.draws else 0


sys.exit(main())
