import CameoModel
import CommandSupport
import Foundation
import TestSupport
import Testing

@testable import cameo_enqueue

/// Options of `cameo-enqueue` become the right request, or are refused by name.
@Suite(.timeLimit(.minutes(10)))
struct EnqueueLineTests {
    /// A table of cases, a line each: what is typed, an arrow, and what becomes of it.
    private static func cases(_ table: String) -> [(typed: String, result: String)] {
        table.split(separator: "\n").map { line in
            let parts = line.split(separator: "→").map { $0.trimmingCharacters(in: .whitespaces) }
            return (parts.count == 1 ? "" : parts[0], parts.last ?? "")
        }
    }

    private func request(_ line: String, _ more: [String] = []) async throws -> ThumbnailRequest {
        let parsed = try await TypedLine("cameo-enqueue --allow-missing \(line)", more).parsed()
        let command = try #require(parsed as? CameoEnqueue, "\(line)")
        return try #require(try await command.requests().made(0..<1).first)
    }

    private func renditions(_ line: String) async throws -> String {
        let request = try await request("https://a.example/a.jpg \(line)")
        guard case .object(let members) = request.json, let renditions = members["renditions"] else { return "" }
        return renditions.canonicalText
    }

    @Test(
        arguments: cases(
            """
            → [{"height":256,"width":256}]
            --gravity 0.3,0.7 --fit cover → [{"fit":"cover","gravity":{"x":0.3,"y":0.7},"height":256,"width":256}]
            --size 9x9:contain --gravity north → [{"fit":"contain","gravity":"north","height":9,"width":9}]
            --size 9x --time 15.50 → [{"time":15.5,"width":9}]
            --size 9x --time 50% → [{"time":"50%","width":9}]
            --size 9x --time auto → [{"width":9}]
            --size 9x --time cover → [{"time":"cover","width":9}]
            --size 9x --time 50% --accurate → [{"accurate":true,"time":"50%","width":9}]
            --size 9x --storyboard 5x4 → [{"storyboard":{"columns":5,"rows":4},"width":9}]
            --size 9x --storyboard 5x4,interval=2.5 → [{"storyboard":{"columns":5,"interval":2.5,"rows":4},"width":9}]
            --size 9x --dpr 1.5 --page 2 --trim 0 → [{"dpr":1.5,"page":2,"trim":0,"width":9}]
            --size 9x --crop 10,20,300x200 → [{"crop":{"height":200,"left":10,"top":20,"width":300},"width":9}]
            --size 9x --crop 10%,5%,33.3%x95% → [{"crop":{"height":0.95,"left":0.1,"top":0.05,"unit":"fraction","width":0.333},"width":9}]
            --size 9x --rotate 270 --flip both --enlarge → [{"flip":"both","rotate":270,"width":9,"withoutEnlargement":false}]
            --size 9x --corner-radius 20 → [{"cornerRadius":20,"width":9}]
            --size 9x --corner-radius 12.5%,corners=topRight,topLeft → [{"cornerRadius":{"fraction":0.125},"corners":["topLeft","topRight"],"width":9}]
            --size 9x --corner-radius circle --background #fff → [{"background":"#ffffffff","cornerRadius":"circle","width":9}]
            --size 9x --blur 2.5 --sharpen 1 --grayscale --tint #c80 → [{"blur":2.5,"grayscale":true,"sharpen":1,"tint":"#cc8800ff","width":9}]
            --size 9x --adjust brightness=1.1,saturation=0 --adjust contrast=2 → [{"brightness":1.1,"contrast":2,"saturation":0,"width":9}]
            --size 9x --adjust contrast=3,contrast=2 → [{"contrast":2,"width":9}]
            --size 9x --overlay http://a/l --overlay-style gravity=0,1,scale=0.2,margin=8 → [{"overlay":{"gravity":{"x":0,"y":1},"margin":8,"scale":0.2,"source":"http://a/l"},"width":9}]
            --size 9x --overlay data:, --overlay-style gravity=west --overlay-style opacity=0.5 → [{"overlay":{"gravity":"west","opacity":0.5,"source":"data:,"},"width":9}]
            --size 9x --border 4,color=#fff --encoding near-lossless → [{"border":4,"borderColor":"#ffffffff","nearLossless":true,"width":9}]
            --size 9x --border 4,color=#000 → [{"border":4,"width":9}]
            --size 9x --encoding lossless --effort 9 --animated → [{"animated":true,"effort":9,"lossless":true,"width":9}]
            --size 9x:jpeg --encoding progressive --quality 70 → [{"format":"jpeg","progressive":true,"quality":70,"width":9}]
            --size 9x:avif --encoding 4:4:4 --max-bytes 2000 → [{"chromaSubsampling":"4:4:4","format":"avif","maxBytes":2000,"width":9}]
            --size 9x --max-bytes 60K → [{"maxBytes":61440,"width":9}]
            --size 9x --format png --encoding palette --quality 50 → [{"format":"png","palette":true,"quality":50,"width":9}]
            --size 9x --format source --keep profile --keep icc,copyright → [{"format":"source","keep":["copyright","icc"],"keepProfile":true,"width":9}]
            --size 9x:jpg → [{"format":"jpeg","width":9}]
            --size 9x --format jpg → [{"format":"jpeg","width":9}]
            --size 9x:png --size 9x:jpeg:q5 --size 8x --quality 70 → [{"format":"png","width":9},{"format":"jpeg","quality":5,"width":9},{"quality":70,"width":8}]
            --size 9x --size 9x:jpeg --encoding lossless --quality 70 → [{"lossless":true,"width":9},{"format":"jpeg","quality":70,"width":9}]
            --size 9x:jpeg --size 9x:png --encoding progressive --effort 3 → [{"format":"jpeg","progressive":true,"width":9},{"effort":3,"format":"png","width":9}]
            --gravity north --size 9x9:cover --size 9x9 --size 8x:contain → [{"fit":"cover","gravity":"north","height":9,"width":9},{"height":9,"width":9},{"fit":"contain","width":8}]
            """
        )
    )
    func optionsBecomeTheRequest(typed: String, result: String) async throws {
        #expect(try await renditions(typed) == result)
    }

    @Test(
        arguments: cases(
            """
            --fit squeeze → 'squeeze' is invalid for '--fit
            --gravity nw → 'nw' is invalid for '--gravity
            --fit cover --gravity 2,0 → --gravity: x must be between 0.0 and 1.0, not 2.0
            --fit fill --gravity north → --gravity: is for cover and contain: fill neither
            --size 9x:cover --gravity north → --gravity: is for a box of width and height
            --fit contain --gravity entropy → --gravity: entropy
            --size 10 → --size 10:
            --size 0x10 → --size 0x10:
            --size 10x10:round → --size 10x10:round:
            --dpr 9 → --dpr: must be between 0.1 and 8.0, not 9.0
            --dpr nan → --dpr:
            --size 9000x --dpr 2 → --dpr: makes a width of 18000
            --size 9223372036854775807x → --size 9223372036854775807x: width
            --page -1 → --page:
            --time soon → --time
            --time -1 → --time
            --accurate → --accurate: is for a time
            --time cover --accurate → --accurate: is for a time
            --storyboard 5 → '5' is invalid for '--storyboard
            --storyboard 20x20 → --storyboard: has 400 tiles
            --storyboard interval=2 → --storyboard: columns
            --storyboard 5x4,interval=0 → interval must be
            --storyboard 5x4 --time 2 → --time: selects one moment
            --trim 256 → --trim:
            --trim → --trim
            --crop 1,2 → '1,2' is invalid for '--crop
            --crop 1,2,3x4x5 → '1,2,3x4x5' is invalid for '--crop
            --crop 1%,2,3x4 → '1%,2,3x4' is invalid for '--crop
            --crop -1,0,5x5 → --crop: left must be
            --crop 0,0,0x5 → --crop: width must be more than 0
            --crop 60%,0%,50%x5% → --crop: reaches beyond the picture
            --rotate 45 → '45' is invalid for '--rotate
            --rotate -90 → '-90' is invalid for '--rotate
            --flip up → 'up' is invalid for '--flip
            --corner-radius 60% → --corner-radius: must be between 0.001 and 0.5, not 0.6
            --corner-radius round → 'round' is invalid for '--corner-radius
            --corner-radius 5,corners=top → '5,corners=top' is invalid for '--corner-radius
            --corner-radius corners=topLeft → --corner-radius: corners needs
            --corner-radius circle,corners=topLeft → --corner-radius: corners needs
            --border x → 'x' is invalid for '--border
            --border -1 → --border:
            --blur 101 → --blur: must be between 0.3 and 100.0, not 101.0
            --sharpen x → 'x' is invalid for '--sharpen
            --adjust brightness=-1 → --adjust: brightness
            --adjust contrast=11 → --adjust: contrast
            --adjust saturation=11 → --adjust: saturation
            --adjust saturation=x → 'saturation=x' is invalid for '--adjust
            --adjust hue=1 → must be brightness=…, contrast=…, saturation=…
            --adjust 1.2 → 1.2' is invalid for '--adjust
            --tint red → 'red' is invalid for '--tint
            --background red → 'red' is invalid for '--background
            --overlay-style margin=3 → --overlay-style needs --overlay
            --overlay '' → --overlay: must be a path or a URI
            --overlay cameo:x → --overlay: "cameo:x"
            --overlay l.png --overlay-style gravity=attention → --overlay-style: gravity
            --overlay l.png --overlay-style opacity=2 → --overlay-style: opacity
            --overlay l.png --overlay-style scale=0 → --overlay-style: scale
            --overlay l.png --overlay-style margin=-1 → --overlay-style: margin
            --size 9x:png --quality 70 → --quality: has no meaning for a png without palette
            --size 9x:png:q70 → --size 9x:png:q70: quality has no meaning
            --encoding lossless --quality 70 → --quality: has no meaning for a lossless
            --format jpeg --encoding lossless → --encoding: lossless has no meaning for jpeg
            --size 9x:jpeg --size 8x:jpeg --effort 3 → --effort: has no meaning for jpeg
            --effort 10 → --effort:
            --encoding progressive → --encoding: progressive has no meaning for auto
            --encoding 4:2:2 → '4:2:2' is invalid for '--encoding
            --encoding 4:4:4 → --encoding: chromaSubsampling has no meaning
            --encoding palette → --encoding: palette has no meaning
            --max-bytes 20x → '20x' is invalid for '--max-bytes
            --max-bytes 1 → --max-bytes:
            --format png --max-bytes 2000 → --max-bytes:
            --format avif --animated → --animated: has no meaning
            --animated --page 1 → --page: selects one frame
            --animated --time 50% → --time: selects one moment, but animated
            --format gif --keep profile → --keep: keepProfile has no meaning
            --keep icc,all → 'icc,all' is invalid for '--keep
            --keep icc,icc → 'icc,icc' is invalid for '--keep
            --max-attempts 99 → --max-attempts: must be between 1 and 25, not 99
            --timeout 2h → --timeout: must be between 1 and 3600 seconds
            --retry base=1ms → --retry: base
            --retry jitter=2 → --retry: jitter
            --unique-key '' → --unique-key:
            --concurrency-limit 2 → --concurrency-limit: needs
            --batch '' → --batch: must be 1 to 200
            --label a --label '' → --label: must have 1 to 200 bytes
            --priority 101 → --priority:
            --queue A → --queue:
            --header nothing → --header nothing: must be 'Name: value'
            --header X-A:1 → --header X-A: is only sent to http: and https:
            --metadata [1] → --metadata: must be a JSON object
            --at tomorrow → 'tomorrow' is invalid for '--at
            --at -5m → '-5m' is invalid for '--at
            --wait-timeout 3 → --wait-timeout needs --wait
            --cache-key a → --cache-key needs --data
            --request r.json → --request contains what to enqueue
            --data → --data reads the picture from standard input
            --preset galery → --preset galery: there is no such preset (there are avatar
            --preset gallery --blur 3 → --blur: needs a --size
            --preset gallery --preset gallery → "grid"
            --size 9x --size 9x → --size 9x: its rendition "9x"
            --presets bad.json → --presets needs --preset
            --preset gallery --presets none.json → --presets none.json: cannot be read
            --list-presets → --list-presets
            """
        )
    )
    func mistakesAreRefusedByTheNameOfTheirOption(typed: String, result: String) async throws {
        let mistake = try #require(try await TypedLine("cameo-enqueue --allow-missing a.jpg \(typed)").mistake())
        #expect(mistake.status == .usage && mistake.text.contains(result), "\(mistake.text)")
    }

    @Test(arguments: ["--size 9x", "--blur 3", "--preset gallery", "--batch b"])
    func aRequestIsNotMixedWithOptions(option: String) async throws {
        let mistake = try await TypedLine("cameo-enqueue --request - \(option)").mistake()
        let name = option.prefix { $0 != " " }
        #expect(mistake?.text.contains("\(name): cannot be combined with --request") == true, "\(mistake?.text ?? "")")
    }

    @Test func nothingIsListedAndEnqueuedAtOnce() async throws {
        let mistake = try #require(try await TypedLine("cameo-enqueue --list-presets --size 9x").mistake())
        #expect(mistake.text.contains("--size: --list-presets"), "\(mistake.text)")
    }

    @Test func aRequestSaysInSecondsWhatWasTypedInAnyUnit() async throws {
        for (timeout, base, cap) in [("90", "2.5", "600"), ("1.5m", "2500ms", "10m")] {
            let request = try await request("a.jpg --timeout \(timeout) --retry base=\(base),cap=\(cap)")
            #expect((request.timeout, request.retry?.base, request.retry?.cap) == (90, 2.5, 600))
            #expect(request.retry?.jitter == nil)
        }
    }

    @Test func aTimeIsAMomentOrFromNow() async throws {
        #expect(
            try await request("a.jpg --at 2090-01-31T12:00:00Z").runAt == Date(timeIntervalSince1970: 3_789_547_200)
        )
        let later = try #require(try await request("a.jpg --at 10m").runAt)
        #expect(abs(later.timeIntervalSinceNow - 600) < 300)
    }

    @Test func pathOfAnOverlayBecomesAFileURI() async throws {
        let request = try await request("a.jpg --size 9x --overlay", ["pictures/my logo.png"])
        let folder = URL(filePath: FileManager.default.currentDirectoryPath).resolvingSymlinksInPath().path
        #expect(request.renditions[0].look.overlay?.source == "file://\(folder)/pictures/my%20logo.png")
    }

    @Test func presetsAndSizesAreJoinedInTheirOrder() async throws {
        let request = try await request("a.jpg --preset social --size 9x --preset hero --blur 3")
        #expect(request.renditions.map(\.name) == ["og", "square", "hero-wide", "hero-narrow", "9x"])
        let social = try #require(try PresetFile.builtIn()["social"])
        #expect(Array(request.renditions.prefix(2)) == social.renditions)
        #expect(request.renditions.map(\.look.blur) == [nil, nil, nil, nil, 3])
    }

    /// Mistakes in a source that can be seen are told before anything is enqueued, each by its name.
    @Test(arguments: [
        ("none.jpg", "none.jpg: there is no such file"), (".", ".: is a folder"),
        ("there/x", "there/x: there is no such file"),
        ("/dev/null", "/dev/null: is not a regular file"), ("s3://bucket/key.jpg", "uses the unknown scheme s3:"),
        ("ftp://example.com/a.jpg", "uses the unknown scheme ftp:"),
        ("--at 10 minutes", "minutes: there is no such file"),
        ("file:///none/a.jpg", "file:///none/a.jpg: there is no such file"), ("file://host/a.jpg", "names a host"),
        ("file:///a%zz.jpg", "hexadecimal"), ("cameo:x", "cameo:x: "), ("initials:", "letter"),
        ("initials:JD?size=9", "16 to 2048"), ("data:, --overlay none.png", "none.png: there is no such file"),
        ("data:, --overlay s3://b/k", "the overlay s3://b/k: uses the unknown scheme s3:"),
    ])
    func whatCannotWorkIsRefused(typed: String, message: String) async throws {
        let mistake = try #require(try await TypedLine("cameo-enqueue \(typed)").mistake())
        #expect(mistake.status == .usage && mistake.text.contains(message), "\(mistake.text)")
    }

    @Test(arguments: ["file:///none/a.jpg", "s3://bucket/key.jpg", "a.jpg"])
    func aRequestsSourceToo(source: String) async throws {
        let folder = try TemporaryFolder()
        let request = Data(#"{"source":"\#(source)","renditions":[{"width":9}]}"#.utf8)
        let mistake = try await TypedLine("cameo-enqueue --request", [try folder.write(request, to: "r.json")])
            .mistake()
        #expect(mistake?.text.contains("the source \(source): ") == true, "\(mistake?.text ?? "")")
    }
}
