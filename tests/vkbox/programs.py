#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""programs.py AEROGPU FOLDER [--driver NAME=ICD[:LIBRARIES]]... [--program NAME]... [--validation above|below] [-v]: do programs draw the
same with the black box as without?

A layer (shot.c) hashes the first pictures that a program presents; of programs that show none, what they print or write is held
against each other. Each is run twice without the black box and once with, on each driver:
`same`: all pictures, in order. `moves`: the program does not draw the same twice by itself; then so many of those with are among those
without. `DIFFERS`: it does, and with the black box it draws something else. `fails`: without the black box too.
With --validation the Khronos layer stands above the black box, or below, and what it says is compared instead: `silent`, or what it
says with the black box and not without. ICD names a driver's JSON file, LIBRARIES a folder of what it needs. Programs that
are not installed are left out. Prints a table for docs/run.md.
"""
import argparse, functools, hashlib, os, re, shutil, signal, subprocess, sys, tempfile, time

ap = argparse.ArgumentParser()
ap.add_argument('aerogpu')
ap.add_argument('folder', help='with the layer that takes pictures')
ap.add_argument('--driver', action='append', default=[])
ap.add_argument('--program', action='append')
ap.add_argument('--validation', choices=['above', 'below'])
ap.add_argument('--option', action='append', default=[], help='of aerogpu run, as --option=--exact')
ap.add_argument('--seconds', type=float, default=20, help='after which a program that does not end is ended')
ap.add_argument('-v', action='store_true')
a = ap.parse_args()
a.aerogpu, a.folder = os.path.abspath(a.aerogpu), os.path.abspath(a.folder)

CHROMIUM_DRIVER = '/usr/lib/chromium/vk_swiftshader_icd.json'
QML = 'import QtQuick\nWindow { visible: true; width: 300; height: 300; Repeater { model: 5; Rectangle { x: index*50; width: 40; height: 40; rotation: index*7; ' \
      'gradient: Gradient { GradientStop { position: 0; color: "red" } GradientStop { position: 1; color: "blue" } } Text { text: "a" + index } } } ' \
      'Timer { interval: 3000; running: true; onTriggered: Qt.quit() } }\n'
PAGE = '<canvas id=c width=300 height=200></canvas><script>const g=c.getContext("webgl",{preserveDrawingBuffer:true}),p=g.createProgram();' \
       'for(const [t,x] of [[g.VERTEX_SHADER,"attribute vec2 a;void main(){gl_Position=vec4(a,0,1);}"],[g.FRAGMENT_SHADER,"precision highp float;' \
       'void main(){gl_FragColor=vec4(fract(gl_FragCoord.xy/37.),fract(gl_FragCoord.x*gl_FragCoord.y/999.),1);}"]])' \
       '{const h=g.createShader(t);g.shaderSource(h,x);g.compileShader(h);g.attachShader(p,h)}g.linkProgram(p);g.useProgram(p);' \
       'g.bindBuffer(g.ARRAY_BUFFER,g.createBuffer());g.bufferData(g.ARRAY_BUFFER,new Float32Array([-1,-1,3,-1,-1,3]),g.STATIC_DRAW);' \
       'g.enableVertexAttribArray(0);g.vertexAttribPointer(0,2,g.FLOAT,false,0,0);g.drawArrays(g.TRIANGLES,0,3);</script>'
ZINK = {'LIBGL_ALWAYS_SOFTWARE': '1', 'MESA_LOADER_DRIVER_OVERRIDE': 'zink', 'GALLIUM_DRIVER': 'zink'}
FFMPEG = ['ffmpeg', '-v', 'error', '-init_hw_device', 'vulkan=vk:0', '-f', 'lavfi', '-i', 'testsrc=size=320x240', '-frames:v', '20', '-vf']
# name: (command line, environment, needs a display, what is compared: pictures, printed, or a file of {tmp})
PROGRAMS = {
    'vkcube': (['vkcube', '--c', '40'], {}, True, 'pictures'),
    'vkd3d-triangle': (['vkd3d-triangle'], {}, True, 'pictures'),
    'vkd3d-gears': (['vkd3d-gears'], {}, True, 'pictures'),
    'qml': (['/usr/lib/qt6/bin/qml', '{tmp}/a.qml'], {'QSG_RHI_BACKEND': 'vulkan', 'QT_QPA_PLATFORM': 'xcb'}, True, 'pictures'),
    'mpv': (['mpv', '--no-config', '--no-audio', '--vo=gpu', '--gpu-api=vulkan', '--vulkan-device={device}', '--untimed', '--frames=30', '--no-osc', '--really-quiet',
             '--dither-depth=no', 'av://lavfi:testsrc=size=320x240'], {}, True, 'pictures'),
    'ffmpeg hflip': (FFMPEG + ['format=rgba,hwupload,hflip_vulkan,hwdownload,format=rgba', '-f', 'framemd5', '-'], {}, False, 'printed'),
    'ffmpeg scale': (FFMPEG + ['format=yuv420p,hwupload,scale_vulkan=w=160:h=120,hwdownload,format=yuv420p', '-f', 'framemd5', '-'], {}, False, 'printed'),
    'ffmpeg blur': (FFMPEG + ['format=yuv420p,hwupload,gblur_vulkan,hwdownload,format=yuv420p', '-f', 'framemd5', '-'], {}, False, 'printed'),
    'glxgears (zink)': (['glxgears'], ZINK, True, 'pictures'),
    'glmark2 (zink)': (['glmark2', '--validate', '-b', 'build', '-b', 'texture', '-b', 'shading', '-s', '300x300'], ZINK, True, 'printed'),
    'neverball (zink)': (['/usr/games/neverball'], ZINK, True, 'pictures'),
    'supertux (zink)': (['/usr/games/supertux2', '--window', '--geometry', '640x480', '--renderer', 'opengl'], ZINK, True, 'pictures'),
    'gltron (zink)': (['/usr/games/gltron'], ZINK, True, 'pictures'),
    'teeworlds (zink)': (['/usr/games/teeworlds'], ZINK, True, 'pictures'),
    'etr (zink)': (['/usr/games/etr'], ZINK, True, 'pictures'),
    'trackballs (zink)': (['/usr/games/trackballs'], ZINK, True, 'pictures'),
    'chromium (ANGLE)': (['chromium', '--headless', '--no-sandbox', '--disable-gpu-sandbox', '--ignore-gpu-blocklist', '--use-gl=angle', '--use-angle=vulkan',
                          '--user-data-dir={tmp}/profile', '--virtual-time-budget=3000', '--screenshot={tmp}/picture.png', '{tmp}/a.html'], {}, True, 'picture'),
    'vkbox_plant': ([os.path.join(a.folder, 'vkbox_plant'), '--frames', '30', 'fine'], {}, False, 'printed'),
}
DRIVERS = {'lavapipe': ('', '')}
DRIVERS.update({name: (rest.split(':') + [''])[:2] for name, rest in (d.split('=', 1) for d in a.driver)})
if not a.driver and os.path.exists(CHROMIUM_DRIVER):
    DRIVERS['SwiftShader'] = (CHROMIUM_DRIVER, '')
VALIDATION, SYSTEM = 'VK_LAYER_KHRONOS_validation', '/usr/share/vulkan/explicit_layer.d'


def start_display():
    for n in range(90, 110):
        if os.path.exists('/tmp/.X%d-lock' % n):
            continue
        p = subprocess.Popen(['Xvfb', ':%d' % n, '-noreset', '-screen', '0', '1024x768x24'], stderr=subprocess.DEVNULL)
        for _ in range(200):
            if os.path.exists('/tmp/.X11-unix/X%d' % n):
                return p, ':%d' % n
            time.sleep(0.05)
        p.kill()
    sys.exit('Xvfb does not start')


@functools.cache
def device_name(driver):
    said = subprocess.run(['vulkaninfo', '--summary'], capture_output=True, text=True, env=icd_of(driver)).stdout
    return ([l.split('=', 1)[1].strip() for l in said.splitlines() if 'deviceName' in l] + [''])[0]


def icd_of(driver):
    icd, libraries = DRIVERS[driver]
    env = {'VK_ICD_FILENAMES': icd, 'VK_DRIVER_FILES': icd} if icd else {}
    return {**os.environ, **env, **({'LD_LIBRARY_PATH': libraries} if libraries else {})}


def environment(program, driver, display, tmp):
    env = {**icd_of(driver), **PROGRAMS[program][1], 'XDG_RUNTIME_DIR': tmp, 'DISPLAY': display, 'VK_LOADER_DEBUG': 'none', 'HOME': tmp}
    if a.validation:
        env['VK_INSTANCE_LAYERS'] = VALIDATION
        env['VK_ADD_LAYER_PATH'] = SYSTEM
    elif PROGRAMS[program][3] == 'pictures':
        env.update(VK_INSTANCE_LAYERS='VK_LAYER_AEROGPU_test_shot', VK_ADD_LAYER_PATH=os.path.abspath(a.folder), AEROGPU_TEST_SHOT=tmp + '/shots')
    return env


def run(program, driver, display, box):
    """(exit code or None, evidence: a list, what was said on both streams)"""
    tmp = tempfile.mkdtemp(prefix='aerogpu-programs-')
    try:
        for name, text in ('a.qml', QML), ('a.html', PAGE):
            with open(tmp + '/' + name, 'w') as f:
                f.write(text)
        env = environment(program, driver, display, tmp)
        argv = [x.replace('{tmp}', tmp).replace('{device}', device_name(driver)) for x in PROGRAMS[program][0]]
        if box:
            argv = [a.aerogpu, 'run', '-o', tmp, '--gpu-timeout', '60', *a.option, '--'] + argv
            if a.validation == 'below':  # the loader has them in the order of the folders, of which `aerogpu run` puts its own last
                argv = ['env', 'VK_INSTANCE_LAYERS=VK_LAYER_AEROGPU_blackbox:' + VALIDATION, 'VK_ADD_LAYER_PATH=%s:%s' % (layers, SYSTEM)] + argv
        with open(tmp + '/out', 'w') as out, open(tmp + '/err', 'w') as err:
            p = subprocess.Popen(argv, env=env, stdout=out, stderr=err, start_new_session=True, cwd=tmp)
        end = time.time() + a.seconds
        while p.poll() is None and time.time() < end and not enough(tmp):
            time.sleep(0.1)
        code = p.poll()
        for sig in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.killpg(p.pid, sig)
                p.wait(5)
            except (ProcessLookupError, subprocess.TimeoutExpired):
                pass
        said, err = open(tmp + '/out', errors='replace').read(), open(tmp + '/err', errors='replace').read()
        what = PROGRAMS[program][3]
        if what == 'pictures':
            evidence = open(tmp + '/shots').read().splitlines() if os.path.exists(tmp + '/shots') else []
        elif what == 'picture':
            evidence = [hashlib.md5(open(tmp + '/picture.png', 'rb').read()).hexdigest()] if os.path.exists(tmp + '/picture.png') else []
        else:
            evidence = re.sub(r'FPS: \d+|FrameTime: [\d.]+|Score: \d+', '', said).splitlines() if code == 0 else []
        if a.v:
            print('#', program, driver, 'with' if box else 'without', code, len(evidence), err[-300:].strip(), flush=True)
        return code, evidence, said + err
    finally:
        shutil.rmtree(tmp, ignore_errors=True)


def enough(tmp):
    """It has shown what is looked at."""
    return not a.validation and os.path.exists(tmp + '/shots') and len(open(tmp + '/shots').readlines()) >= 30


def compare(program, driver, display):
    (_, once, _), (_, twice, _), (_, box, said) = (run(program, driver, display, b) for b in (False, False, True))
    n = min(len(once), len(twice), len(box))
    if not once or not twice:
        return 'fails'
    if 'made no Vulkan instance' in said:
        return 'not seen'
    if n and once[:n] == twice[:n] == box[:n]:
        return 'same (%d)' % n if PROGRAMS[program][3] == 'pictures' else 'same'
    if not n:
        return 'DIFFERS: nothing is shown'
    if once[:n] != twice[:n]:
        return 'moves; %d of %d' % (sum(x in set(once + twice) for x in box), len(box))
    _, again, _ = run(program, driver, display, True)  # one that draws by the clock may have met the same moments twice
    if once[:len(again)] == again[:len(once)]:
        return 'moves; %d of %d, then all' % (sum(x in set(once + twice) for x in box), len(box))
    return 'DIFFERS: %d of %d' % (sum(x != y for x, y in zip(once, box)), n)


def messages(text):
    """What the validation layer says, without handles and numbers."""
    return {re.sub(r'0x[0-9a-f]+|\d+', '#', m) for m in re.findall(r'(VUID-[\w-]+|UNASSIGNED-[\w-]+|SYNC-[\w-]+)', text)}


def validate(program, driver, display):
    code, _, bare = run(program, driver, display, False)
    _, _, said = run(program, driver, display, True)
    more = messages(said) - messages(bare)
    return 'silent (%d of its own)' % len(messages(bare)) if not more else 'SAYS ' + ' '.join(sorted(more))


layers = os.path.normpath(os.path.join(a.folder, '../../src/vkbox'))
server, display = start_display()
bad = False
print('| program | %s |\n|%s' % (' | '.join(DRIVERS), '---|' * (len(DRIVERS) + 1)))
for program in a.program or PROGRAMS:
    if not shutil.which(PROGRAMS[program][0][0]):
        print('| %s | not installed |' % program, flush=True)
        continue
    row = [(validate if a.validation else compare)(program, d, display) for d in DRIVERS]
    bad |= any(r.startswith(('DIFFERS', 'SAYS')) for r in row)
    print('| %s | %s |' % (program, ' | '.join(row)), flush=True)
server.terminate()
sys.exit(bad)
