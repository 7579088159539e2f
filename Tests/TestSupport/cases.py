"""Small pictures as other programs make them: `cases.py NAME PATH` writes the one of this name. A case is a function."""
import base64
import struct
import subprocess
import sys
import zlib


def vips(*words):
    subprocess.run(["vips", *words], check=True, stderr=subprocess.DEVNULL)


def png(path, width, height, pixel, chunks=(), late=(), kind=2):
    """8 bits a channel; kind 0 is grey, 2 RGB, 6 RGB with alpha. A chunk is its type and its payload."""
    def chunk(name, payload):
        return struct.pack(">I", len(payload)) + name + payload + struct.pack(">I", zlib.crc32(name + payload))
    rows = b"".join(b"\0" + b"".join(bytes(pixel(x, y)) for x in range(width)) for y in range(height))
    head = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, kind, 0, 0, 0))
    parts = [head, *[chunk(*c) for c in chunks], chunk(b"IDAT", zlib.compress(rows)), *[chunk(*c) for c in late]]
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + b"".join(parts) + chunk(b"IEND", b""))


def tiff(path, *pages, big=False):
    """A page is its fields, by tag (numbers, or fractions as pairs), its one strip of bytes, and perhaps its SubIFDs: pages."""
    word = 8 if big else 4
    number, width = ("<Q", "<Q") if big else ("<I", "<H")
    file = bytearray(b"II+\0\x08\0\0\0" if big else b"II*\0")
    link = len(file)
    file += b"\0" * word

    def add(fields, strip, parts=()):
        places = [add(*part)[0] for part in parts]
        at = len(file)
        file.extend(strip + b"\0" * (len(strip) % 2))
        fields = {273: [at], 279: [len(strip)], **({330: places} if places else {}), **fields}
        start = len(file)
        end = start + struct.calcsize(width) + (4 + 2 * word) * len(fields)
        entries, values = b"", b""
        for tag, numbers in sorted(fields.items()):
            if isinstance(numbers, bytes):
                kind, data = 2 if tag in (315, 33432) else 7, numbers
            elif isinstance(numbers[0], tuple):
                kind, data = 5, b"".join(struct.pack("<II", *n) for n in numbers)
            else:
                kind, data = 4, struct.pack("<%dI" % len(numbers), *numbers)
                if max(numbers) < 65536 and tag not in (273, 279, 330):
                    kind, data = 3, struct.pack("<%dH" % len(numbers), *numbers)
            count = len(data) // {2: 1, 3: 2, 4: 4, 5: 8, 7: 1}[kind]
            if len(data) > word:
                place = end + word + len(values)
                values += data + b"\0" * (len(data) % 2)
                data = struct.pack(number, place)
            entries += struct.pack("<HH", tag, kind) + struct.pack(number, count) + data.ljust(word, b"\0")
        file.extend(struct.pack(width, len(fields)) + entries + b"\0" * word + values)
        return start, end

    for page in pages:
        start, end = add(*page)
        file[link:link + word] = struct.pack(number, start)
        link = end
    with open(path, "wb") as out:
        out.write(file)


def samples(width, height, bits, kind=1, colors=1, photometric=1, **more):
    fields = {256: [width], 257: [height], 258: [bits] * colors, 259: [1], 262: [photometric], 277: [colors],
              278: [height], 339: [kind] * colors}
    return {**fields, **{int(tag[1:]): value for tag, value in more.items()}}


def gif(path, width, height, frames, colors, background=0):
    """A frame is (left, top, width, height, index, disposal), all of one colour."""
    file = b"GIF89a" + struct.pack("<HHBBB", width, height, 0xF1, background, 0)
    file += b"".join(bytes(c) for c in (colors + [(0, 0, 0)] * 4)[:4])
    for left, top, wide, high, index, disposal in frames:
        bits, count = 0, 0
        for _ in range(wide * high):  # a clear code before each pixel keeps codes at three bits
            for code in (4, index):
                bits |= code << count
                count += 3
        bits |= 5 << count
        data = bits.to_bytes((count + 10) // 8, "little")
        file += b"\x21\xf9\x04" + bytes([disposal << 2, 10, 0, 0, 0]) + b"\x2c"
        file += struct.pack("<HHHHB", left, top, wide, high, 0) + b"\x02"
        file += b"".join(bytes([len(data[i:i + 255])]) + data[i:i + 255] for i in range(0, len(data), 255)) + b"\0"
    with open(path, "wb") as out:
        out.write(file + b";")


def grey_profile():
    curve = b"curv\0\0\0\0\0\0\0\1\2\x33\0\0"
    white = b"XYZ \0\0\0\0" + struct.pack(">3i", 63190, 65536, 54061)
    body = struct.pack(">I", 2) + b"kTRC" + struct.pack(">II", 156, 14) + b"wtpt" + struct.pack(">II", 172, 20)
    head = struct.pack(">I", 192) + b"lcms\x02\x10\0\0mntrGRAYXYZ " + b"\0" * 12 + b"acsp"
    return head.ljust(128, b"\0") + body + curve + white


def with_segment(path, payload, marker=0xE2):
    jpeg = open(path, "rb").read()
    segment = bytes([0xFF, marker]) + struct.pack(">H", len(payload) + 2) + payload
    open(path, "wb").write(jpeg[:2] + segment + jpeg[2:])


def ramps(path):
    png(path + ".png", 64, 16, lambda x, y: (x * 4, 255 - x * 4, 128))


def grey_profile_on_rgb_jpeg(path):
    ramps(path)
    vips("jpegsave", path + ".png", path, "--Q", "100", "--subsample-mode", "off")
    with_segment(path, b"ICC_PROFILE\0\1\1" + grey_profile())


def big_reduced_first(path):
    small = (samples(16, 16, 8, colors=3, photometric=2, _254=[1]), bytes([200, 0, 0]) * 256)
    tiff(path, small, (samples(64, 64, 8, colors=3, photometric=2), bytes([0, 200, 0]) * 4096), big=True)


def big_grey_signed(path):
    tiff(path, (samples(64, 8, 16, 2), struct.pack("<64h", *[x * 512 for x in range(64)]) * 8), big=True)


def big_twelve_bits(path):
    tiff(path, (samples(8, 8, 12), bytes(96)), big=True)


def float_grey_white_is_zero(path):
    tiff(path, (samples(64, 8, 32, 3, photometric=0), struct.pack("<64f", *[x / 63 for x in range(64)]) * 8))


def rgb_with_selection(path):
    tiff(path, (samples(8, 8, 8, colors=4, photometric=2, _338=[0]), bytes([200, 100, 50, 0]) * 64))


def rgb_with_selection_and_opacity(path):
    tiff(path, (samples(8, 8, 8, colors=5, photometric=2, _338=[0, 2]), bytes([200, 100, 50, 0, 128]) * 64))


def rgb_with_thirteen_samples(path):
    extra = [0] * 8 + [2] + [0] * 4
    fields = samples(8, 8, 8, colors=3 + len(extra), photometric=2, _338=extra)
    tiff(path, (fields, bytes([200, 100, 50, *[128 if kind else 9 for kind in extra]]) * 64))


def cmyk_with_spot_color(path):
    tiff(path, (samples(8, 8, 8, colors=5, photometric=5, _338=[0]), bytes(5) * 64))


def grey_with_selection(path):
    tiff(path, (samples(8, 8, 16, colors=2, photometric=1, _338=[0]), struct.pack("<HH", 128 * 257, 0) * 64))


def lab(path, pack, *pixel, photometric=8, bits=8):
    extra = {"_338": [2]} if len(pixel) == 4 else {}
    fields = samples(8, 8, bits, colors=len(pixel), photometric=photometric, **extra)
    tiff(path, (fields, struct.pack("<" + pack, *pixel) * 64))


def lab_8(path):
    lab(path, "Bbb", 123, 69, 52)


def lab_8_opacity(path):
    lab(path, "BbbB", 123, 69, 52, 128)


def lab_16(path):
    lab(path, "Hhh", 123 * 257, 69 * 256, 52 * 256, bits=16)


def lab_16_opacity(path):
    lab(path, "HhhH", 123 * 257, 69 * 256, 52 * 256, 128 * 257, bits=16)


def icclab_8(path):
    lab(path, "BBB", 123, 69 + 128, 52 + 128, photometric=9)


def icclab_16(path):
    lab(path, "HHH", 123 * 256, (69 + 128) * 256, (52 + 128) * 256, photometric=9, bits=16)


def lab_lightness(path):
    tiff(path, (samples(8, 8, 8, photometric=8), bytes(64)))


def camera_raw(path):
    stamp = samples(16, 8, 8, colors=3, photometric=2, _254=[1], _274=[6])
    preview = samples(64, 32, 8, colors=3, photometric=2, _254=[1])
    sensor = samples(128, 64, 16, photometric=32803)
    parts = [(preview, bytes([0, 200, 0]) * 2048), (sensor, bytes(16384))]
    tiff(path, (stamp, bytes([200, 0, 0]) * 128, parts))


def sensor_data(path):
    tiff(path, (samples(64, 64, 16, photometric=32803), bytes(8192)))


def linear_sensor_data(path):
    tiff(path, (samples(64, 64, 16, colors=3, photometric=34892), bytes(24576)))


def rgb_4_bits(path):
    tiff(path, (samples(8, 8, 4, colors=3, photometric=2), bytes(96)))


def tiles_in_planes(path):
    fields = samples(16, 16, 8, colors=3, photometric=2, _284=[2], _322=[16], _323=[16], _324=[8, 264, 520], _325=[256] * 3)
    tiff(path, (fields, bytes(768)))


def jpeg_dnl(path):
    with open(path, "wb") as out:
        out.write(bytes.fromhex("ffd8ffc0000b080000000801011100ffda0008010100003f0000ffdc00040008ffd9"))


def jpeg_ls(path):
    with open(path, "wb") as out:
        out.write(bytes.fromhex("ffd8fff7000b080008000801011100ffda0008010100000000000000ffd9"))


def png_of_apple(path):
    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
    raw = zlib.compressobj(wbits=-15)
    rows = raw.compress((b"\0" + bytes([50, 100, 200, 255]) * 8) * 8) + raw.flush()
    with open(path, "wb") as out:
        out.write(b"\x89PNG\r\n\x1a\n" + chunk(b"CgBI", bytes([0x50, 0, 0x20, 2]))
                  + chunk(b"IHDR", struct.pack(">IIBBBBB", 8, 8, 8, 6, 0, 0, 0)) + chunk(b"IDAT", rows) + chunk(b"IEND", b""))


def grey_profile_on_rgb_tiff(path):
    strip = bytes(v for _ in range(16) for x in range(64) for v in (x * 4, 255 - x * 4, 128))
    tiff(path, (samples(64, 16, 8, colors=3, photometric=2, _34675=grey_profile()), strip))


def grey_profile_on_cmyk_tiff(path):
    tiff(path, (samples(8, 8, 8, colors=4, photometric=5, _34675=grey_profile()), bytes([0, 0, 0, 0]) * 64))


def cmyk_profile_on_rgb_tiff(path):
    strip = bytes([200, 100, 50]) * 64
    profile = grey_profile().replace(b"GRAY", b"CMYK")
    tiff(path, (samples(8, 8, 8, colors=3, photometric=2, _34675=profile), strip))


def level(x, y):
    return (x * 4, x * 4, x * 4)


def gamma(value):
    return (b"gAMA", struct.pack(">I", value))


P3 = (b"cHRM", struct.pack(">8I", 31270, 32900, 68000, 32000, 26500, 69000, 15000, 6000))


def gamma_1(path):
    png(path, 64, 16, level, [gamma(100000)])


def gamma_1_grey(path):
    png(path, 64, 16, lambda x, y: (x * 4,), [gamma(100000)], kind=0)


def gamma_usual(path):
    png(path, 64, 16, level, [gamma(45455)])


def gamma_behind_srgb(path):
    png(path, 64, 16, level, [gamma(100000), (b"sRGB", b"\0")])


def gamma_behind_cicp(path):
    png(path, 64, 16, level, [gamma(100000), (b"cICP", b"\1\x0d\0\1")])


def primaries_of_p3(path):
    png(path, 64, 16, lambda x, y: (234, 51, 35), [gamma(45455), P3])


def avif(path, pixel, primaries, transfer, kind=2):
    """Colours by code points in a box `colr`, which newer versions of libheif do not write."""
    png(path + ".png", 64, 64, pixel, kind=kind)
    vips("heifsave", path + ".png", path, "--compression", "av1", "--Q", "95", "--subsample-mode", "off", "--effort", "0")
    file = bytearray(open(path, "rb").read())
    file = file.replace(b"colrnclx", b"freenclx")
    ipma = file.find(b"ipma") - 4
    place = file.find(b"ipco") - 4
    end = place + size(file, place)
    count, at = 1, place + 8
    while at < end:
        at += size(file, at)
        count += 1
    # Behind the properties of each item, whose numbers have a byte (flags 0).
    items, at = struct.unpack(">I", file[ipma + 12:ipma + 16])[0], ipma + 16
    for _ in range(items):
        file[at + 2] += 1
        at += 2 + file[at + 2]
        file[at:at] = bytes([count])
        at += 1
    file[end:end] = struct.pack(">I4s4sHHHB", 19, b"colr", b"nclx", primaries, transfer, 6, 128)
    grow(file, b"ipma", items, end + 19)
    grow(file, b"ipco", 19)
    grow(file, b"iprp", 19 + items)
    moved(file, 19 + items)
    open(path, "wb").write(file)


def size(file, at):
    return struct.unpack(">I", file[at:at + 4])[0]


def grow(file, name, by, start=0):
    at = file.find(name, start) - 4
    file[at:at + 4] = struct.pack(">I", size(file, at) + by)
    return at


def moved(file, by):
    """The box `meta` has grown by so many bytes: the items behind it are elsewhere."""
    grow(file, b"meta", by)
    at = file.find(b"iloc") + 4
    version, count = file[at], struct.unpack(">H", file[at + 6:at + 8])[0]
    at += 8
    for _ in range(count):  # id, in version 1 a method, reference, a base of 0, one extent
        at += 12 if version else 10
        file[at:at + 4] = struct.pack(">I", size(file, at) + by)
        at += 8


def avif_p3(path):
    avif(path, lambda x, y: (234, 51, 35), 12, 13)


def avif_pq(path):
    avif(path, lambda x, y: (148, 148, 148), 9, 16)


def avif_hlg(path):
    avif(path, lambda x, y: (191, 191, 191), 9, 18)


def avif_bt601(path):
    avif(path, lambda x, y: (200, 100, 50), 2, 2)


def avif_premultiplied(path):
    """libheif writes none: a reference of the kind `prem` is added."""
    avif(path, lambda x, y: (100, 50, 25, 128), 2, 2, kind=6)
    file = bytearray(open(path, "rb").read())
    at = grow(file, b"iref", 14)
    file[at + 12:at + 12] = struct.pack(">I4sHHH", 14, b"prem", 1, 1, 2)
    moved(file, 14)
    open(path, "wb").write(file)


def cicp(path, pixel, primaries, transfer, kind=2):
    png(path, 8, 8, lambda x, y: pixel, [(b"cICP", bytes([primaries, transfer, 0, 1]))], kind=kind)


def cinema_dci(path):
    cicp(path, (200, 60, 60), 11, 17)


def cinema_p3(path):
    cicp(path, (200, 60, 60), 12, 17)


def cinema_xyz_grey(path):
    cicp(path, (128,), 10, 17, kind=0)


def xyz_light(path):
    cicp(path, (102, 89, 77), 10, 8)


def smpte_240(path):
    cicp(path, (200, 60, 60), 7, 7)


def avif_cinema_dci(path):
    avif(path, lambda x, y: (200, 60, 60), 11, 17)


def compressed(path, text):
    open(path, "wb").write(zlib.decompress(base64.b85decode(text.replace("\n", ""))))


def grey_of_limited_range(path):
    """AV1 with one plane, from 16 to 235 (libavif): four fields of 87, 118, 51 and 203 in full range."""
    compressed(path, """
c-muNV30{GsVqn=%S>Yc0uY^>nP!-qnF!*4$W1LtWPkvTjFg-rD4U@mGr5ET3FKrZ!HnQ5$SlbP3o-(+TxL#wGKk{>;xj@-
8AX6}D#*;t%)B(XS}7nWl?lpAEHf~4&d<pQTbYqrP*eb<Ju?fE^MSNTW^q9()anI5TmiASA``5c14!^BmKi!XGRS}ggp>1git>_kDuCwlGO&S!#4`(WV
IBiIi-nP?nFYwq%}q%x5n|xtl#pHid&2=|#}1<~mlVb}frAHZovz%{UKBO^eonyIxiWE1EN>$or2X0!H0iOY|CRaa*>(T<jItK8Iri>i%82Py>?~cExN
(+Qe5jY8#ulE#3Ofqa16Il==x(3H#dMCLpaB5<j#+E""")


def grey_of_limited_range_untold(path):
    """Only the coded pixels say so."""
    grey_of_limited_range(path)
    file = open(path, "rb").read()
    open(path, "wb").write(file.replace(b"colrnclx", b"freenclx"))


def integer_ycgco(path):
    """Matrix 16 of H.273, YCgCo-Re (libavif 1.3, lossless): four fields."""
    compressed(path, """
c-muNU{FXasVqn=%S>Yc0uY^>nP!-
qnV9D5Xy^zO`jnemlE?r78W|}$MNl?FL1uCZ0}{x|OoAE1SCCnf3l?MqV!6zm{A3Wv1;l5Bh%!nsFfeC;%*@QpOM|PG0&-
HBpuEH~14HNhoP4mAS(ybz1wh(6vmiMiNQ-
0^7o<Y1UI4@uKrB#@S&<16VCLfD0#ZDQWrog;3JxG4;pF_BqP*ms3ZTin3<3>6A@R(DT$tB@4r5_tYGwiIEyzttED>Vh;<S)m{(ECXTZ4en4K|?Lw*;K
!Y}<OT?8+*^-Ll{KdmLvj_-51JU;W@ASJoAsl-|n`OQ$bC_+`@R9tQQMnQyLzS6=pte04T>CWGX5z1WL_W}7eG(+`(F`gZ|C^*nyVMy`W)p~-
*txol;udOb(?iZzeq_4s#>FW+ImmoN8qPS^dv^VyefzxZOo(x_U|cs5>fj}`J>qMPrP?*4sy*8lg0y2oyv-
F5%jb!l~npifU9A5u8flHLB`=z&$M)^4*uWBO?q)7qwIiK}L<OK9c^Y<`w_nVYXM_ju5iBY(fLt1#AcZ~Vp-
zJ9WGOX`V)nfkSAUmo8`3U66?v~1Sb=c~GxvaR0lU8=JC`@goT1#@`AuGlx|sr4=}`<HNCa(|b|?<19WBjp=TN_ELE6}Yf=@yjwfw>eimPv$(f@k?Mx-
efzK>F|k<>0v%OC$@2z{qyR0TOFt;-|}94&8>fb_Gr6#^Svp2IML(ys;tPnyIf;cbv|-P=BHf<+Hco+dh>(VFE?~-
Ss*$8s~N}9c>4pF!)_<3@4U}5E1TOr_KB<0;+J=|ubVH}cPvr#@4pFBr^0Nb?$*|SUvC)im6c&|OwDEPgwJ6NU;iIXeAwXjyV>sBvn@}vE{DtCVz_oEJ
(ayfa`OS%gRREy$6VJ&%lx<UsQs9I*sc1%_R0%Ox|B=VMSk6iE?Ze7xHBz2@(>fpv1;wPQ<NQa^9$E9*#Dc_md|>voaz11x0jo%O-|qPdgyuHIQRVIn-
V=64A)KcpQQ2p`Nqu!X@^aw_3aDYD)@D^(c@RQELx0qxVWS|dJ)~o+Hp9mV{O{5cVF(xEMT6zDt5!WPpt=Silqga&KSpX&(c1={LpL7BkM2R?Wz~~`F*
-Y)TT~1UXBM|K|9$m`JCQkcerbz(8bLA>=CAOJ*QNhkh8h4&h*_>g{!O7S#G>@`#yiss>`Nv9lK@z`ba+M=hwNfx$azRVA=6)1!lXrcF+G&H|6F{3HD>
>ZwllZ{@|CmvT)(oNv|3&UKBrfWc{9<A18hk^xd1XQ>f{YtCaKS+Wh~=F4jNZs&~u2XIa)tr72$m!+r!v&#Yd`thPyfs*(2szvjB0eI~!-
C)Dr?vxWtPe6T*Mlzw%0FQ*1y=e^8iw$F>N&tLdAe#@lEc3~1uKi@0@8vA9>zRIsX9&ctc2^1d#04!_q>;""")


def smaller_opacity(path):
    """320 × 240 with opacity of 160 × 120: its left half is transparent."""
    compressed(path, """
c-
mc530zWH7r%fC8E!FdlZv2{wz#FKe2AvGOqP*OtCb>xVjzfn7Lb{((`1{GnpUPcYA%giHsMlgY1v|%R+?*t>)3*d@;$VEUtj0<?z!jw&;Q)_fA^jD000
Jz=mc&Uok;_bv6&1TMa*VW834dJY<e^m%o{E&gvI+711^&m4Sq6pE;E`v7r~%m&17+CieL@2&m1y`!%qW%_yAPDuT}Oc(vUeanGuXRRI${C7IgSGPFO6
>2K)fR6y@K+Uzt2Q<GTWCOgsxp!W31oGA5VDh2~@?m&Spz@lc673;{vl<Q$ze24pi*DF7OXAgDsm6^4e%<q85q!9XZ3(oMK46-
q91gTa2vWUHbybOQ2CbE~URVb;bFhEO<w3x@c}HLyBfNw6z)8w`!Z;ziI{@er&ARD=-
p3p0vKpVtgiP{yF4$z{ef6$k=_LP1m1oLnVEm?c%<Mvz?D|K#e<%T*8%a|}q8(KoeAAhrLWsHN=hKlkxBi|ed8xLM&)u0JXLK^DkXoY?$ZotFhuC~<^N
*j=%T;YASHTzcr7b0gB2G%hhJAu5{Ajv_)FCW}esB@n4BZrEJ^5SUyx^;>5^-
Jm3dK@$Qf0aYcTGEf0X0PU_k&JLkMZH4GJhZU>Xs;c4Y%eKpA9Hi%va(UVDJ=l*$Qw4Vj<k2OYi&yn<N_qt+&IsheTJqVKIDX6MtU-
55bVm??tLsO2N<Q_(RZ?!h9!#A!ijzxH@el0zuB3=Jr+-
Vk*$3CiLgYlnoqV#uoRq<{z*wu@xvXElm96{bV32rRr^<UKq7c6k<OsH`Q~%tmdBDRX<VYWR8IAlUIZ){KFx~eaqX?~^xU3@FW~7uD7>oPzcuUu&rkh)
z7mGw4m+FT$d}yFHJT&gRrJbeS`D)L~gp&jUX^@WpLshKfi5FqwNuDvQ@gdcBr+Azm8E2S}BcNT1YR>YpSUG$)$2~}^XLi!*V$apfl9@@|?oW9;_taNC
vGouBKur`OF){z%%TF8%y<lGvzEOYig;u0RzyN!1e_e4|-tfo_QUhh3a_Ti4{TMFvjw2+^B!9YIi}Vmjhtp|6E1Wf-
<sV+``c8N9dV|1=c7W~j>X=vGeR;ryOU9-
nhFgfrn2x5yVhUa5ZfDGnvT4S1;*HJKT@Lqz)z_l(b;HGfzuf(75hYzKW1+2iml4%+rG~6TlXE+=GNXMV`$e@$;u}fV(W~|y`%Z8DD?YC$eG<=q`{Ghg
3+4T)^lHH=y2|*fuURjX;%^|QikotGt?~Kv;*vwc<4AdTja+UvpgUfnSt+%Y%R}y#O2Vz*3XWFo;OC%90Kx%~bCvQY`|xCq=B9Q0GXe00ezTY`j}a%E_
}g{6;>IqV1W0n;1ln6nPN+ZD=T75WmMTxE4Nuwelke8)R`n7lIdQ@bSA-_U!0*s2kr+NA9C(seW*?%_F>K4yK@Qu*x(lQW$_r6jgM9qGuMu|Z?9Pi!%j
wQtu9nKFCFvG!J7U#yP}Jv(cBQtg7%KA9JM*PIi?uY=*Z+0qWy98~6Op;Hg)Nzw%Rw8t>D0E`O%>BmEq_m-
+^8}kt4#pwMPpvV{$!13g+f0XYCDp=cBj9wnHKiXp5C5Y^7_EP1?ABU$H*?(z)p6M^=5sF;xmOo9s?pwk8h(CI1FdZT5%Gk{=@Ai!r!;4$-
4>9OK{ZvE7s$)MTOh0XEyFSopiorm4_IN?J8xMijV4qraIcd4lS=NEB6le@ATVOlAr0cffsu?ZskX(#(&<a?|7eyfgelmROiEsD&LBDSMDFotkWOkoQD
b1l1Rwq#{8lX_-Q@2M^69xeH6jW56c9)Sna{tMKf1s3N9gY_mTg@^7*GUaPL(80NE#a=h6pj8;$Z-
xLOh4S?=c<ZhusWoK7np%{G{5Z9FS;IrIlb2<&S?GxQ&X$;@Hb(P5sSVwA_kV`+;lI*nsp;enDngIiA7_y+{E6&R35UAnPvx+D)*w`?>#nWtGXw!BhFY
Le1Xz9hR{lI8sPn!PFUv-
3oj?2)IThG*i4{VUI}qwj;;3M)PHZhiEQC2Sg~JAcOGCc<T(5{BaTRC{ScMX~vnhiJ@)i?&tiK27bT`R~xxY96E=aiL<#Z1}3%UK3Wfy)M&_KwRVCG3n
Yiy>rVX-
o#SUuDj(I{$ieMJg+Ly4zere5f;p@Nkv;&Ej8Rd)Y$5;O9qj@YMn@J#>4IS*Dmsc|FrN)e`?w6BJ>8=`U7=qZC<CpU;M*Uy(UYiH~R99IP$Thj$!p}jW
@MC4)~5^3+(TJS#7=P&l4|4%-U@3lgvc+YLf<6vG$r(otFk$7bK-
P94O|>JC~;(^{uwD+fJnVyo)^>o_KckFP3lW4;SEXC**e|96aR|fqL;kKkTb`u?oT|b-
m1CiOH9BL_`i<X%yEUHM;frhqQ*uP;Wz}(eV^al(@53@T%q@vY{pOS&Foc5^1J-k$xh7^;(CAxVNb>;bC4IOvh=*-h73-
;v343CpwF2utgZFyl^ZIeYw%JjiNEZXeO<0v1{Tc8tbX_w>*e&4zSp}-asab@T~CCuaP8mmLOAW#Nqq90YDD@7h`5&rT""")


def animated_jxl(path):
    """Frames of red, green and blue (libjxl)."""
    compressed(path, """
c-jG*0%ZOF3f%+&SWsLN2ne78001ZhODHnkg!Km3!FvS-1tS1jgLa{K5XHy+-
MxU20084g6cjKFkSYMy1YjL73PRR}i0ni_Tm%8A510%@e;X!$Xl7vH#qWvbMT2J$fdv3B<edEjB|1$dzrM*ORmP{fG01cYmWVh=c;o(;Z_kZaE^W=6)%
&MdnA1(o*sxpbO$$=gHQsBU?FsFZ0r}Lzuh7JJ#%z`92_*vnn78Yagos>EOZ||ioyH)pNFz4Gi!gSG!7!Oev=8(yy^`qMBt}Nqu^v#);}r-
9AO!#bgab=BL3IoC6C7Lz&kugTf`WpAk^lhekT#*n5Y_Mg?k;N6ZDWkRfRq3*R006tBNPn;piKnC2{1K?@`UK3h=3LX!T$k74d4M}7z}8xm1bb!MgN!O
MT2MXVif={<iC6aB|1$dX}HZLRmL|+9nN%_vWz%L`1kLhZ_h1l&A8v4l~|aQ#M@2HSSrE%P1CiRFrMv?{zM4Kr{*+|CdLDXsZ`U78F0G`0E+Y}MFy0X;
Gn_0mEaEW@0#EMWT<0}=V|ztWxPx@A!2{RV+oiN@8gdusjBXHmzTNT`{V!!2%tv*06YUrC^FrI^#<3$I|T&=BLG?>+J)jlRKNdmcP}6$0KoW1030d>x`
Mbh5oaQTSSS}EA`1}^6F~su5F!I1T?cG;ni*K=@qb}?(cl@yCIr9>)ld0AiB40=??ZA)mGOOU3^E;WY$6T@SP=f@+j9%$Pg^r*we2bv=5$jt9-NkXgU-
`*joeUYd&PM|Kt8qfNi;E@(R`(9LCydGM*%GkCcGpPGoc%#9_*NTf<g!&X!p|#kgF`twyy9?eggQo28RL5Ou2+%3+gk<w?uA6C=>""")


def float_grey(path):
    tiff(path, (samples(64, 8, 32, 3), struct.pack("<64f", *[x / 63 for x in range(64)]) * 8))


def float_grey_double(path):
    tiff(path, (samples(64, 8, 64, 3), struct.pack("<64d", *[x / 63 for x in range(64)]) * 8))


def float_grey_half(path):
    tiff(path, (samples(64, 8, 16, 3), struct.pack("<64e", *[x / 63 for x in range(64)]) * 8))


def grey_32_bits(path):
    tiff(path, (samples(64, 8, 32), struct.pack("<64I", *[x * (2**32 // 64) for x in range(64)]) * 8))


def grey_signed(path):
    tiff(path, (samples(64, 8, 16, 2), struct.pack("<64h", *[x * 512 for x in range(64)]) * 8))


def ycbcr(path):
    tiff(path, (samples(8, 8, 8, colors=3, photometric=6, _530=[1, 1]), bytes([76, 85, 255]) * 64))


def ycbcr_video_range(path):
    white = [(16, 1), (235, 1), (128, 1), (240, 1), (128, 1), (240, 1)]
    tiff(path, (samples(8, 8, 8, colors=3, photometric=6, _530=[1, 1], _532=white), bytes([235, 128, 128]) * 64))


def ycbcr_subsampled(path):
    tiff(path, (samples(8, 8, 8, colors=3, photometric=6, _530=[2, 2]), bytes([76] * 4 + [85, 255]) * 16))


def reduced_first(path):
    small = (samples(8, 8, 8, colors=3, photometric=2, _254=[1]), bytes([255, 0, 0]) * 64)
    tiff(path, small, (samples(64, 64, 8, colors=3, photometric=2), bytes([0, 200, 0]) * 4096))


def twelve_bits(path):
    ramps(path)
    vips("jpegsave", path + ".png", path)
    file = open(path, "rb").read()
    at = file.find(b"\xff\xc0")
    open(path, "wb").write(file[:at] + b"\xff\xc1" + file[at + 2:at + 4] + b"\x0c" + file[at + 5:])


def lossless_jpeg(path):
    ramps(path)
    vips("jpegsave", path + ".png", path)
    open(path, "r+b").write(open(path, "rb").read().replace(b"\xff\xc0", b"\xff\xc3", 1))


def late_exif(path):
    exif = b"II*\0\x08\0\0\0\1\0\x12\1\3\0\1\0\0\0\6\0\0\0\0\0\0\0"
    png(path, 64, 16, level, late=[(b"eXIf", exif)])


def apng(path):
    png(path, 64, 16, level, [(b"acTL", struct.pack(">II", 2, 0)), (b"fcTL", struct.pack(">IIIIIHHBB", 0, 64, 16, 0, 0, 1, 9, 0, 0))])


def hair_frame(path):
    def pixel(x, y):
        is_line = (x in (10, 69) and 10 <= y <= 49) or (y in (10, 49) and 10 <= x <= 69)
        return (0, 0, 0) if is_line else (255, 255, 255)
    png(path, 80, 60, pixel)


def hair_frame_transparent(path):
    def pixel(x, y):
        is_line = (x in (10, 69) and 10 <= y <= 49) or (y in (10, 49) and 10 <= x <= 69)
        return (0, 0, 0, 255) if is_line else (0, 0, 0, 0)
    png(path, 80, 60, pixel, kind=6)


def one_dot(path):
    png(path, 20, 20, lambda x, y: (0, 0, 0) if (x, y) == (7, 12) else (255, 255, 255))


def narrow(path):
    png(path, 1, 5000, lambda x, y: (0, 200, 0))


def svg(path, head):
    text = "<svg xmlns='http://www.w3.org/2000/svg' %s><rect width='100%%' height='100%%' fill='#00c800'/></svg>"
    with open(path, "w") as file:
        file.write(text % head)


def svg_fraction(path):
    svg(path, "width='24.4' height='10.6'")


def svg_inches(path):
    svg(path, "width='0.02in' height='0.01in'")


def svg_view_box(path):
    svg(path, "viewBox='0 0 0.4 0.3'")


def svg_wide(path):
    svg(path, "width='20000' height='5'")


def embedded(path, data, kind):
    """Half of a drawing is a picture in a `data:` URI."""
    uri = "data:" + kind + ";base64," + base64.b64encode(data).decode()
    body = "<rect width='16' height='8' fill='#00f'/><image width='8' height='8' href='%s'/>" % uri
    data = "<svg xmlns='http://www.w3.org/2000/svg' width='16' height='8'>%s</svg>" % body
    with open(path, "w") as file:
        file.write(data)


def green(path, saver):
    png(path + ".png", 64, 64, lambda x, y: (0, 200, 0))
    vips(saver, path + ".png", path, *(["--compression", "av1"] if saver == "heifsave" else []))
    return open(path, "rb").read()


def svg_with_webp(path):
    embedded(path, green(path, "webpsave"), "image/webp")


def svg_with_gif(path):
    embedded(path, green(path, "gifsave"), "image/gif")


def svg_with_avif(path):
    embedded(path, green(path, "heifsave"), "image/avif")


def svg_with_png_named_jpeg(path):
    embedded(path, green(path, "pngsave"), "image/jpeg")


def svg_left_out(path):
    parts = """<style>@media screen { rect { fill: var(--a) } }</style><script/><foreignObject/><use href='#a'/>
      <svg:image xlink:href = "other.png" xmlns:svg="a" xmlns:xlink="b"/><a href="page.html"/><rect><animate/></rect>"""
    with open(path, "w") as file:
        file.write("<svg xmlns='http://www.w3.org/2000/svg' width='16' height='8'>%s</svg>" % parts)


def svg_with_a_link(path):
    with open(path, "w") as file:
        file.write("""<svg xmlns='http://www.w3.org/2000/svg' width='16' height='8'><a href="page.html"><text>@ media var(a)
          </text></a><use href="#a"/></svg>""")


def svg_in_svg(path):
    svg_with_webp(path)
    embedded(path, open(path, "rb").read().replace(b"width='16'", b"width='8'", 1), "image/svg+xml")


def svg_in_utf16(path):
    svg_with_webp(path)
    text = "<?xml version='1.0' encoding='UTF-16'?>" + open(path).read()
    with open(path, "w", encoding="utf-16") as file:
        file.write(text)


def svg_in_big_endian_utf16(path):
    svg(path, "width='16' height='8'")
    text = open(path).read()
    with open(path, "w", encoding="utf-16-be") as file:
        file.write(text)


COLORS = [(255, 0, 0), (0, 200, 0), (0, 0, 255)]


def gif_repeated(path):
    whole = (0, 0, 16, 16)
    gif(path, 16, 16, [(*whole, 0, 0), (*whole, 0, 0), (*whole, 1, 0), (*whole, 1, 0), (*whole, 2, 0)], COLORS)


def gif_cut(path, bytes=6):
    gif_repeated(path)
    file = open(path, "rb").read()
    open(path, "wb").write(file[:-bytes])


def gif_without_trailer(path):
    gif_cut(path, 1)


def gif_with_last_words(path):
    gif_repeated(path)
    file = open(path, "rb").read()
    open(path, "wb").write(file[:-1] + b"\x21\xfe\x02hi\0;")


def gif_still_repeated(path):
    gif(path, 16, 16, [(0, 0, 16, 16, 1, 0)] * 3, COLORS)


def gif_uncovered(path):
    gif(path, 16, 16, [(4, 4, 8, 8, 1, 0)], COLORS)


def gif_film_uncovered(path):
    gif(path, 16, 16, [(4, 4, 8, 8, 1, 0), (8, 8, 6, 6, 2, 0)], COLORS)


def gif_disposed(path):
    gif(path, 16, 16, [(0, 0, 16, 16, 1, 2), (8, 8, 8, 8, 2, 0)], COLORS)


def hidden_colors(path):
    png(path, 16, 16, lambda x, y: (x * 16, y * 16, 99, 0 if x < 8 else 255), kind=6)


def hidden_greys(path):
    png(path, 16, 16, lambda x, y: (x * 16, 0 if x < 8 else 255), kind=4)


def noise(path):
    state = [1]

    def pixel(x, y):
        state[0] = state[0] * 1103515245 + 12345 & 0x7FFFFFFF
        return (state[0] >> 8 & 255, state[0] >> 12 & 255, state[0] >> 16 & 255)
    png(path, 48, 48, pixel)


def disc_webp(path):
    png(path + ".png", 256, 256, lambda x, y: (20, 20, 120, 255 if (x - 128)**2 + (y - 128)**2 < 9000 else 0), kind=6)
    vips("webpsave", path + ".png", path, "--Q", "90")


def rings(path, width=303, height=301):
    png(path, width, height, lambda x, y: ((x * x + y * y) // 9 % 256,) * 3)


def rings_webp(path):
    rings(path + ".png")
    vips("webpsave", path + ".png", path, "--lossless")


def even_rings(path):
    rings(path, 320, 300)


def even_rings_webp(path):
    even_rings(path + ".png")
    vips("webpsave", path + ".png", path, "--lossless")


def xmp_address(path):
    png(path + ".png", 16, 16, level)
    vips("jpegsave", path + ".png", path)
    attributes = "photoshop:City='SECRET1' photoshop:Credit='Ann'"
    elements = "".join("<%s>SECRET</%s>" % (n, n) for n in (
        "photoshop:State", "photoshop:Country", "Iptc4xmpCore:Location", "Iptc4xmpCore:CountryCode",
        "Iptc4xmpExt:LocationCreated", "Iptc4xmpExt:LocationShown", "Iptc4xmpExt:City", "Iptc4xmpCore:CiAdrCity"))
    spaces = " ".join("xmlns:%s='http://ns.example/%s/'" % (n, n) for n in ("photoshop", "Iptc4xmpCore", "Iptc4xmpExt"))
    packet = "<x:xmpmeta xmlns:x='adobe:ns:meta/'><rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'>" \
        "<rdf:Description rdf:about='' %s %s>%s</rdf:Description></rdf:RDF></x:xmpmeta>" % (spaces, attributes, elements)
    with_segment(path, b"http://ns.adobe.com/xap/1.0/\0" + packet.encode(), 0xE1)


def jpeg(path):
    png(path + ".png", 16, 16, level)
    vips("jpegsave", path + ".png", path)


def multi_picture(path, types, segment=None):
    """CIPA DC-007: the picture, and others of these types behind it, perhaps with a segment of their own."""
    jpeg(path)
    other = path + ".other"
    jpeg(other)
    if segment:
        with_segment(other, segment, 0xE1)
    first, more = open(path, "rb").read(), open(other, "rb").read()
    count = len(types) + 1
    head = b"MPF\0" + b"II*\0\x08\0\0\0\2\0" + struct.pack("<HHII", 0xB001, 4, 1, count)
    head += struct.pack("<HHII", 0xB002, 7, 16 * count, 38) + b"\0" * 4
    length = len(first) + 4 + len(head) + 16 * count
    entries = struct.pack("<IIIHH", 0x30000, length, 0, 0, 0)
    for n, kind in enumerate(types):
        entries += struct.pack("<IIIHH", kind, len(more), length + n * len(more) - 10, 0, 0)  # from the byte order mark
    with_segment(path, head + entries)
    with open(path, "ab") as file:
        file.write(more * len(types))


def said_in_xmp(words):
    return b"http://ns.adobe.com/xap/1.0/\0<x:xmpmeta><rdf:Description " + words + b"/></x:xmpmeta>"


def gain_map(path):
    """The second picture says of itself what it is."""
    multi_picture(path, [0], said_in_xmp(b'hdrgm:Version="1.0"'))


def gain_map_told_before(path):
    multi_picture(path, [0])
    with_segment(path, said_in_xmp(b'Item:Semantic="GainMap"'), 0xE1)


def second_picture(path):
    multi_picture(path, [0x20002])


def preview(path):
    multi_picture(path, [0x10001])


def motion_photo(path):
    jpeg(path)
    with_segment(path, said_in_xmp(b'GCamera:MotionPhoto="1" GDepth:Near="1"'), 0xE1)


def rights_packet():
    return """<?xpacket begin='' id='W5M0MpCehiHzreSzNTczkc9d'?><x:xmpmeta xmlns:x='adobe:ns:meta/'>
    <rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'><rdf:Description rdf:about='' photoshop:City='SECRET'
    xmlns:dc='http://purl.org/dc/elements/1.1/' xmlns:xmpRights='http://ns.adobe.com/xap/1.0/rights/'
    xmlns:photoshop='http://ns.adobe.com/photoshop/1.0/' photoshop:Credit='Ann &amp; Sons' xmpRights:Marked='True'>
    <dc:rights><rdf:Alt><rdf:li xml:lang='x-default'>© 2026 Ann</rdf:li></rdf:Alt></dc:rights>
    <dc:creator><rdf:Seq><rdf:li>Ann</rdf:li><rdf:li>Bea &lt;b&gt;</rdf:li></rdf:Seq></dc:creator>
    <dc:subject><rdf:Bag><rdf:li>SECRET</rdf:li></rdf:Bag></dc:subject><aux:SerialNumber>SECRET</aux:SerialNumber>
    <xmpRights:WebStatement>https://ann.example/terms?a=1&amp;b=2</xmpRights:WebStatement>
    </rdf:Description></rdf:RDF></x:xmpmeta><?xpacket end='w'?>""".encode()


def rights_in_xmp(path):
    jpeg(path)
    with_segment(path, b"http://ns.adobe.com/xap/1.0/\0" + rights_packet(), 0xE1)


def rights_in_iptc(path, more=b""):
    """Of IPTC-IIM: creator, city, notice. In ISO 8859-1."""
    jpeg(path)
    data = b"".join(b"\x1c\x02" + bytes([n]) + struct.pack(">H", len(text)) + text for n, text in (
        (80, b"Ann"), (90, b"SECRET"), (116, "© 2026 Ann".encode("latin-1"))))
    with_segment(path, b"Photoshop 3.0\x008BIM\x04\x04\0\0" + struct.pack(">I", len(data)) + data, 0xED)


def rights_that_differ(path):
    """EXIF has another notice than IPTC."""
    rights_in_iptc(path)
    notice = "© 2025 Ann\0".encode()
    exif = b"Exif\0\0II*\0\x08\0\0\0\1\0" + struct.pack("<HHII", 33432, 2, len(notice), 26) + b"\0" * 4 + notice
    with_segment(path, exif, 0xE1)


def rights_in_tiff(path):
    tiff(path, (samples(8, 8, 8, colors=3, photometric=2, _315=b"Ann\0", _33432="© 2026 Ann\0".encode()), bytes(192)))


def rights_in_png(path):
    notice = b"Copyright\0\0\0\0\0" + "© 2026 Ann".encode()
    png(path, 8, 8, level, [(b"tEXt", b"Author\0Ann"), (b"iTXt", notice), (b"tEXt", b"Comment\0SECRET")])


def rights_in_gif(path, block=None):
    text = "© 2026 Ann".encode()
    gif(path, 8, 8, [(0, 0, 8, 8, 1, 0)], [(0, 0, 0), (0, 200, 0)])
    file = open(path, "rb").read()
    block = block or b"\x21\xfe" + bytes([len(text)]) + text + b"\0"
    open(path, "wb").write(file[:-1] + block + b";")


def rights_in_xmp_of_gif(path):
    trailer = b"\1" + bytes(range(255, -1, -1)) + b"\0"
    rights_in_gif(path, b"\x21\xff\x0bXMP DataXMP" + rights_packet() + trailer)


if __name__ == "__main__":
    globals()[sys.argv[1]](sys.argv[2])
