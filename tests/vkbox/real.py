# SPDX-License-Identifier: MIT
"""real.py: the programs of others that the black box is tried on, a table; what they need that no package has; a display for them.

AEROGPU_PROGRAMS names a folder in which some find more: the npm packages webgpu and @node-llama-cpp/linux-x64-vulkan (made there by `npm
install`), and shaders that a package left out. A program whose parts are not here is not installed.
"""
import atexit, ctypes, os, shutil, signal, subprocess, sys, time

FOLDER = os.path.abspath(os.environ.get('AEROGPU_PROGRAMS', os.path.expanduser('~/.cache/aerogpu-programs')))
HERE = os.path.dirname(os.path.abspath(__file__))
CHROMIUM_DRIVER = '/usr/lib/chromium/vk_swiftshader_icd.json'
QML = 'import QtQuick\nWindow { visible: true; width: 300; height: 300; Repeater { model: 5; Rectangle { x: index*50; width: 40; height: 40; rotation: index*7; ' \
      'gradient: Gradient { GradientStop { position: 0; color: "red" } GradientStop { position: 1; color: "blue" } } Text { text: "a" + index } } } ' \
      'Timer { interval: 3000; running: true; onTriggered: Qt.quit() } }\n'
MOVES = QML.replace('rotation: index*7;', 'RotationAnimation on rotation { loops: Animation.Infinite; from: 0; to: 360 }').replace('Qt.quit()', '{}')
PAGE = '<canvas id=c width=300 height=200></canvas><script>const g=c.getContext("webgl",{preserveDrawingBuffer:true}),p=g.createProgram();' \
       'for(const [t,x] of [[g.VERTEX_SHADER,"attribute vec2 a;void main(){gl_Position=vec4(a,0,1);}"],[g.FRAGMENT_SHADER,"precision highp float;' \
       'void main(){gl_FragColor=vec4(fract(gl_FragCoord.xy/37.),fract(gl_FragCoord.x*gl_FragCoord.y/999.),1);}"]])' \
       '{const h=g.createShader(t);g.shaderSource(h,x);g.compileShader(h);g.attachShader(p,h)}g.linkProgram(p);g.useProgram(p);' \
       'g.bindBuffer(g.ARRAY_BUFFER,g.createBuffer());g.bufferData(g.ARRAY_BUFFER,new Float32Array([-1,-1,3,-1,-1,3]),g.STATIC_DRAW);' \
       'g.enableVertexAttribArray(0);g.vertexAttribPointer(0,2,g.FLOAT,false,0,0);g.drawArrays(g.TRIANGLES,0,3);</script>'
ZINK = {'LIBGL_ALWAYS_SOFTWARE': '1', 'MESA_LOADER_DRIVER_OVERRIDE': 'zink', 'GALLIUM_DRIVER': 'zink'}
FFMPEG = ['ffmpeg', '-v', 'error', '-init_hw_device', 'vulkan=vk:0', '-f', 'lavfi', '-i', 'testsrc=size=320x240']
WEBGPU = FOLDER + '/node_modules/webgpu'
GGML = FOLDER + '/node_modules/@node-llama-cpp/linux-x64-vulkan/bins/linux-x64-vulkan'
DDNET = ['/usr/games/DDNet', 'gfx_backend Vulkan;gfx_screen_width 400;gfx_screen_height 300;gfx_fullscreen 0;gfx_vsync 0;snd_enable 0;cl_menu_map ""']
MPV = ['mpv', '--no-config', '--no-audio', '--vo=gpu', '--gpu-api=vulkan', '--vulkan-device={device}', '--no-osc', '--really-quiet', 'av://lavfi:testsrc=size=320x240']


class Program:
    """shows: pictures, printed, or picture, a file of {tmp}; long: the command line if it is to run for a while; works: with draw, dispatch, or both; needs: what has
    to be there."""
    def __init__(self, argv, env=None, display=True, shows='pictures', long=None, works='draw', needs=()):
        self.argv, self.env, self.display, self.shows, self.long, self.works, self.needs = argv, env or {}, display, shows, long or argv, works, needs

    def is_here(self, folder):
        return bool(shutil.which(self.argv[0].replace('{folder}', folder))) and all(map(os.path.exists, self.needs))


def printed(argv, **more):
    return Program(argv, display=False, shows='printed', **{'works': 'dispatch', **more})


def zink(argv, **more):
    return Program(argv, env=ZINK, **more)


def ffmpeg(filters, **more):
    tail = ['-vf', 'format=' + filters, '-f']
    return printed(FFMPEG + ['-frames:v', '20'] + tail + ['framemd5', '-'], long=FFMPEG + ['-t', '3'] + tail + ['null', '-'], **more)


PROGRAMS = {
    'vkcube': Program(['vkcube', '--c', '40'], long=['vkcube', '--c', '300']),
    'vkd3d-triangle': Program(['vkd3d-triangle']),
    'vkd3d-gears': Program(['vkd3d-gears']),
    'qml': Program(['/usr/lib/qt6/bin/qml', '{tmp}/a.qml'], {'QSG_RHI_BACKEND': 'vulkan', 'QT_QPA_PLATFORM': 'xcb'}, long=['/usr/lib/qt6/bin/qml', '{tmp}/moves.qml']),
    'mpv': Program(MPV + ['--untimed', '--frames=30', '--dither-depth=no'], long=MPV),
    'ddnet': Program(DDNET, {'XDG_DATA_HOME': FOLDER + '/data', 'SDL_AUDIODRIVER': 'dummy'}),
    'ffmpeg hflip': ffmpeg('rgba,hwupload,hflip_vulkan,hwdownload,format=rgba'),
    'ffmpeg scale': ffmpeg('yuv420p,hwupload,scale_vulkan=w=160:h=120,hwdownload,format=yuv420p'),
    'ffmpeg blur': ffmpeg('yuv420p,hwupload,gblur_vulkan,hwdownload,format=yuv420p'),
    'webgpu (Dawn)': printed(['node', HERE + '/webgpu.mjs', WEBGPU, '20'], long=['node', HERE + '/webgpu.mjs', WEBGPU, '2000'], works='both', needs=[WEBGPU]),
    'ggml': printed(['env', 'LD_LIBRARY_PATH={libraries}' + GGML, 'GGML_VK_VISIBLE_DEVICES=0', 'python3', HERE + '/ggml.py', GGML, '20'],
                    long=['env', 'LD_LIBRARY_PATH={libraries}' + GGML, 'GGML_VK_VISIBLE_DEVICES=0', 'python3', HERE + '/ggml.py', GGML, '5000'], needs=[GGML]),
    'glxgears (zink)': zink(['glxgears']),
    'glmark2 (zink)': zink(['glmark2', '--validate', '-b', 'build', '-b', 'texture', '-b', 'shading', '-s', '300x300'], shows='printed',
                           long=['glmark2', '-b', 'build', '-s', '300x300']),
    'neverball (zink)': zink(['/usr/games/neverball']),
    'supertux (zink)': zink(['/usr/games/supertux2', '--window', '--geometry', '640x480', '--renderer', 'opengl']),
    'gltron (zink)': zink(['/usr/games/gltron']),
    'teeworlds (zink)': zink(['/usr/games/teeworlds']),
    'etr (zink)': zink(['/usr/games/etr']),
    'trackballs (zink)': zink(['/usr/games/trackballs']),
    'chromium (ANGLE)': Program(['chromium', '--headless', '--no-sandbox', '--disable-gpu-sandbox', '--ignore-gpu-blocklist', '--use-gl=angle', '--use-angle=vulkan',
                                 '--user-data-dir={tmp}/profile', '--virtual-time-budget=3000', '--screenshot={tmp}/picture.png', '{tmp}/a.html'], shows='picture'),
    'vkbox_plant': printed(['{folder}/vkbox_plant', '--frames', '30', 'fine'], long=['{folder}/vkbox_plant', '--frames', '100', 'fine'], works='both'),
}


def make_ddnet():
    """The package's data have no SPIR-V: each file with each set of the words that it looks at, under the name that the program looks for."""
    source, out = '/usr/share/games/ddnet/data/shader/vulkan', FOLDER + '/data/ddnet/shader/vulkan'
    textured, push = ('_textured', ['-DTW_TEXTURED']), ('_push', ['-DTW_PUSH_CONST'])
    tiles = [(b + t, c + d) for b, c in (('', []), ('_border', ['-DTW_TILE_BORDER']), ('_border_line', ['-DTW_TILE_BORDER_LINE']))
             for t, d in (('', []), ('_textured', ['-DTW_TILE_TEXTURED']))]
    plain, turned = ('', []), ['-DTW_ROTATIONLESS']
    kinds = {'prim': [plain, textured], 'prim3d': [plain, textured], 'text': [plain], 'spritemulti': [plain, push], 'tile': tiles,
             'quad': [(a + b, c + d) for a, c in (plain, push) for b, d in (plain, ('_textured', ['-DTW_QUAD_TEXTURED']))],
             'primex': [(a + b, c + d) for a, c in (plain, ('_tex', ['-DTW_TEXTURED'])) for b, d in (plain, ('_rotationless', turned))]}
    if not os.path.exists(source) or not shutil.which('glslangValidator') or os.path.exists(out):
        return
    os.makedirs(out + '.part')
    for name, variants in kinds.items():
        for suffix, words in variants:
            for stage in 'vert', 'frag':
                subprocess.run(['glslangValidator', '--client', 'vulkan100', *words, '%s/%s.%s' % (source, name, stage), '-o', '%s.part/%s%s.%s.spv' %
                                (out, name, suffix, stage)], check=True, stdout=subprocess.DEVNULL)
    os.rename(out + '.part', out)


def command(words, tmp, folder, device='', libraries=''):
    """With the files that it reads, in `tmp`."""
    for name, text in ('a.qml', QML), ('moves.qml', MOVES), ('a.html', PAGE):
        with open(tmp + '/' + name, 'w') as f:
            f.write(text)
    for name, value in (('tmp', tmp), ('folder', os.path.abspath(folder)), ('device', device), ('libraries', libraries and libraries + ':')):
        words = [w.replace('{%s}' % name, value) for w in words]
    return words


def driver_env(icd, libraries):
    env = {'VK_ICD_FILENAMES': icd, 'VK_DRIVER_FILES': icd} if icd else {}
    return {**env, **({'LD_LIBRARY_PATH': libraries} if libraries else {})}


def device_name(env):
    said = subprocess.run(['vulkaninfo', '--summary'], capture_output=True, text=True, env={**os.environ, **env}).stdout
    return ([l.split('=', 1)[1].strip() for l in said.splitlines() if 'deviceName' in l] + [''])[0]


PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
libc = ctypes.CDLL(None)


ENDS = signal.SIGTERM, signal.SIGHUP, signal.SIGINT
started = []  # and not ended


def end_with_us():
    """From now on what was started is ended when this process is, by whatever signal; what loses its parent becomes a child of it."""
    libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    atexit.register(end_all)
    for sig in ENDS:
        signal.signal(sig, lambda *_: sys.exit(1))


def end_all():
    signal.pthread_sigmask(signal.SIG_BLOCK, ENDS)
    for p in list(started):
        end(p)


def start(argv, **more):
    """In a session of its own, for end()."""
    def enter():
        signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDS)
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    signal.pthread_sigmask(signal.SIG_BLOCK, ENDS)  # there is none that we do not know of
    try:
        started.append(subprocess.Popen(argv, start_new_session=True, preexec_fn=enter, **more))
        return started[-1]
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDS)


def left_of(p):
    """Processes of its session, and those that it left to us."""
    found = []
    for pid in filter(str.isdigit, os.listdir('/proc')):
        try:
            parent, _, session = map(int, open('/proc/%s/stat' % pid).read().rpartition(')')[2].split()[1:4])
        except (OSError, ValueError):
            continue
        if session == p.pid or (parent == os.getpid() and int(pid) not in mine):
            found.append(int(pid))
    return found


mine = set()  # that are to stay


def end(p):
    """And all that it started, also in sessions of their own."""
    if p.poll() is None:
        p.terminate()
        try:
            p.wait(3)
        except subprocess.TimeoutExpired:
            pass
    for _ in range(50):  # each may leave others
        left = left_of(p)
        for pid in left:
            try:
                os.kill(pid, signal.SIGKILL)
                if pid != p.pid:
                    os.waitpid(pid, os.WNOHANG)
            except (ProcessLookupError, ChildProcessError):
                pass
        p.poll()
        if not left:
            started.remove(p)
            return
        time.sleep(0.05)


def start_display():
    """Its name, or None; it ends with us."""
    for n in range(70, 110):
        if not shutil.which('Xvfb') or os.path.exists('/tmp/.X11-unix/X%d' % n) or os.path.exists('/tmp/.X%d-lock' % n):
            continue
        p = start(['Xvfb', ':%d' % n, '-noreset', '-screen', '0', '1024x768x24'], stderr=subprocess.DEVNULL)
        mine.add(p.pid)
        for _ in range(200):
            if os.path.exists('/tmp/.X11-unix/X%d' % n):
                return ':%d' % n
            time.sleep(0.05)
        p.kill()
    return None
