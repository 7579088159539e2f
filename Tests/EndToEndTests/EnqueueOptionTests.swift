import CameoModel
import Foundation
import TestSupport
import Testing

/// Options become the right request, or are refused by name.
@Suite(.timeLimit(.minutes(10)))
struct EnqueueOptionTests {
    @Test(
        arguments: TestLength.few(
            [
                ("", #"{"height":256,"width":256}"#),
                (
                    "--gravity 0.3,0.7 --fit cover",
                    #"{"fit":"cover","gravity":{"x":0.3,"y":0.7},"height":256,"width":256}"#
                ),
                ("--size 9x9:contain --gravity north", #"{"fit":"contain","gravity":"north","height":9,"width":9}"#),
                ("--size 9x --time 15.50", #"{"time":15.5,"width":9}"#),
                ("--size 9x --time 50%", #"{"time":"50%","width":9}"#),
                ("--size 9x --time auto", #"{"width":9}"#),
                ("--size 9x --time cover", #"{"time":"cover","width":9}"#),
                ("--size 9x --time 50% --accurate", #"{"accurate":true,"time":"50%","width":9}"#),
                ("--size 9x --storyboard 5x4", #"{"storyboard":{"columns":5,"rows":4},"width":9}"#),
                (
                    "--size 9x --storyboard 5x4 --interval 2.5",
                    #"{"storyboard":{"columns":5,"interval":2.5,"rows":4},"width":9}"#
                ),
                ("--size 9x --dpr 1.5 --page 2 --trim 0", #"{"dpr":1.5,"page":2,"trim":0,"width":9}"#),
                (
                    "--size 9x --crop 10,20,300x200",
                    #"{"crop":{"height":200,"left":10,"top":20,"width":300},"width":9}"#
                ),
                (
                    "--size 9x --crop 10%,5%,33.3%x95%",
                    #"{"crop":{"height":0.95,"left":0.1,"top":0.05,"unit":"fraction","width":0.333},"width":9}"#
                ),
                (
                    "--size 9x --rotate 270 --flip both --enlarge",
                    #"{"flip":"both","rotate":270,"width":9,"withoutEnlargement":false}"#
                ),
                ("--size 9x --corner-radius 20", #"{"cornerRadius":20,"width":9}"#),
                (
                    "--size 9x --corner-radius 12.5% --corners topRight,topLeft",
                    #"{"cornerRadius":{"fraction":0.125},"corners":["topLeft","topRight"],"width":9}"#
                ),
                (
                    "--size 9x --corner-radius circle --background #fff",
                    ##"{"background":"#ffffffff","cornerRadius":"circle","width":9}"##
                ),
                (
                    "--size 9x --blur 2.5 --sharpen 1 --grayscale --tint #c80",
                    ##"{"blur":2.5,"grayscale":true,"sharpen":1,"tint":"#cc8800ff","width":9}"##
                ),
                (
                    "--size 9x --brightness 1.1 --saturation 0 --contrast 2",
                    #"{"brightness":1.1,"contrast":2,"saturation":0,"width":9}"#
                ),
                (
                    "--size 9x --overlay http://a/l --overlay-gravity 0,1 --overlay-scale 0.2 --overlay-margin 8",
                    #"{"overlay":{"gravity":{"x":0,"y":1},"margin":8,"scale":0.2,"source":"http://a/l"},"width":9}"#
                ),
                (
                    "--size 9x --overlay data:, --overlay-gravity west --overlay-opacity 0.5",
                    #"{"overlay":{"gravity":"west","opacity":0.5,"source":"data:,"},"width":9}"#
                ),
                (
                    "--size 9x --border 4 --border-color #fff --near-lossless",
                    ##"{"border":4,"borderColor":"#ffffffff","nearLossless":true,"width":9}"##
                ),
                ("--size 9x --border 4 --border-color #000", #"{"border":4,"width":9}"#),
                (
                    "--size 9x --lossless --effort 9 --animated",
                    #"{"animated":true,"effort":9,"lossless":true,"width":9}"#
                ),
                (
                    "--size 9x:jpeg --progressive --quality 70",
                    #"{"format":"jpeg","progressive":true,"quality":70,"width":9}"#
                ),
                (
                    "--size 9x:avif --chroma-subsampling 4:4:4 --max-bytes 2000",
                    #"{"chromaSubsampling":"4:4:4","format":"avif","maxBytes":2000,"width":9}"#
                ),
                (
                    "--size 9x --format png --palette --quality 50",
                    #"{"format":"png","palette":true,"quality":50,"width":9}"#
                ),
                (
                    "--size 9x --format source --keep-profile --keep icc,copyright",
                    #"{"format":"source","keep":["copyright","icc"],"keepProfile":true,"width":9}"#
                ),
                // Options of some formats only are skipped for the others.
                (
                    "--size 9x:png --size 9x:jpeg:q5 --size 8x --quality 70",
                    #"{"format":"png","width":9},{"format":"jpeg","quality":5,"width":9},{"quality":70,"width":8}"#
                ),
                (
                    "--size 9x --size 9x:jpeg --lossless --quality 70",
                    #"{"lossless":true,"width":9},{"format":"jpeg","quality":70,"width":9}"#
                ),
                (
                    "--size 9x:jpeg --size 9x:png --progressive --effort 3",
                    #"{"format":"jpeg","progressive":true,"width":9},{"effort":3,"format":"png","width":9}"#
                ),
            ],
            8
        )
    )
    func optionsBecomeTheRequest(options: String, renditions: String) async throws {
        let deployment = try Deployment()
        let arguments = ["https://a.example/a.jpg", "--json"] + options.split(separator: " ").map(String.init)
        let result = try await deployment.command("cameo-enqueue", arguments)
        #expect(result.exitStatus == 0, "\(result.errorText)")
        let request = try JSONValue(parsing: try await deployment.sql("SELECT request FROM job;").utf8)
        let expected = #"{"renditions":[\#(renditions)],"source":"https://a.example/a.jpg"}"#
        #expect(request.canonicalText == expected)
    }

    @Test func pathOfAnOverlayBecomesAFileURI() async throws {
        let deployment = try Deployment()
        _ = try await deployment.enqueue("a.jpg", "--size", "9x", "--overlay", "pictures/my logo.png")
        let folder = deployment.folder.url.resolvingSymlinksInPath().path
        let text = try await deployment.sql("SELECT request FROM job;")
        #expect(text.contains(#""overlay":{"source":"file://\#(folder)/pictures/my%20logo.png"}"#), "\(text)")
    }

    @Test(
        arguments: TestLength.few(
            [
                ("--fit squeeze", "'squeeze' is invalid for '--fit"),
                ("--gravity nw", "'nw' is invalid for '--gravity"),
                ("--fit cover --gravity 2,0", "--gravity: x must be between 0.0 and 1.0, not 2.0"),
                ("--fit fill --gravity north", "--gravity: is for cover and contain: fill neither"),
                ("--size 9x:cover --gravity north", "--gravity: is for a box of width and height"),
                ("--fit contain --gravity entropy", "--gravity: entropy"),
                ("--dpr 9", "--dpr: must be between 0.1 and 8.0, not 9.0"),
                ("--dpr nan", "--dpr: "), ("--size 9000x --dpr 2", "--dpr: makes a width of 18000"),
                ("--size 9223372036854775807x", "--size 9223372036854775807x: width"), ("--page -1", "--page: "),
                ("--time soon", "--time"), ("--time -1", "--time"),
                ("--accurate", "--accurate: is for a time"), ("--time cover --accurate", "--accurate: is for a time"),
                ("--storyboard 5", "'5' is invalid for '--storyboard"),
                ("--storyboard 20x20", "--storyboard: has 400 tiles"),
                ("--interval 2", "--interval needs --storyboard"),
                ("--storyboard 5x4 --interval 0", "interval must be"),
                ("--storyboard 5x4 --time 2", "--time: selects one moment"),
                ("--trim 256", "--trim: "), ("--trim", "--trim"), ("--crop 1,2", "'1,2' is invalid for '--crop"),
                ("--crop 1,2,3x4x5", "'1,2,3x4x5' is invalid for '--crop"),
                ("--crop 1%,2,3x4", "'1%,2,3x4' is invalid for '--crop"),
                ("--crop -1,0,5x5", "--crop: left must be"), ("--crop 0,0,0x5", "--crop: width must be more than 0"),
                ("--crop 60%,0%,50%x5%", "--crop: reaches beyond the picture"),
                ("--rotate 45", "'45' is invalid for '--rotate"),
                ("--rotate -90", "'-90' is invalid for '--rotate"), ("--flip up", "'up' is invalid for '--flip"),
                ("--corner-radius 60%", "--corner-radius: must be between 0.001 and 0.5, not 0.6"),
                ("--corner-radius round", "'round' is invalid for '--corner-radius"),
                ("--corner-radius 5 --corners top", "'top' is invalid for '--corners"),
                ("--corners topLeft", "--corners: needs"),
                ("--corner-radius circle --corners topLeft", "--corners: needs"),
                ("--blur 101", "--blur: must be between 0.3 and 100.0, not 101.0"),
                ("--sharpen x", "'x' is invalid for '--sharpen"), ("--brightness -1", "--brightness: "),
                ("--contrast 11", "--contrast: "),
                ("--saturation 11", "--saturation: "), ("--tint red", "'red' is invalid for '--tint"),
                ("--background red", "'red' is invalid for '--background"),
                ("--overlay-margin 3", "--overlay-margin needs --overlay"),
                ("--overlay-gravity north", "--overlay-gravity needs --overlay"),
                ("--overlay cameo:x", "--overlay: \"cameo:x\""),
                ("--overlay l.png --overlay-gravity attention", "--overlay-gravity: "),
                ("--overlay l.png --overlay-opacity 2", "--overlay-opacity: "),
                ("--overlay l.png --overlay-scale 0", "--overlay-scale: "),
                ("--overlay l.png --overlay-margin -1", "--overlay-margin: "),
                ("--size 9x:png --quality 70", "--quality: has no meaning for a png without palette"),
                ("--size 9x:png:q70", "--size 9x:png:q70: quality has no meaning"),
                ("--lossless --quality 70", "--quality: has no meaning for a lossless"),
                ("--format jpeg --lossless", "--lossless: has no meaning for jpeg"),
                ("--size 9x:jpeg --size 8x:jpeg --effort 3", "--effort: has no meaning for jpeg"),
                ("--effort 10", "--effort: "),
                ("--progressive", "--progressive: has no meaning for auto"),
                ("--chroma-subsampling 4:2:2", "'4:2:2' is invalid for '--chroma-subsampling"),
                ("--chroma-subsampling 4:4:4", "--chroma-subsampling: has no meaning"),
                ("--palette", "--palette: has no meaning"),
                ("--max-bytes 20x", "'20x' is invalid for '--max-bytes"), ("--max-bytes 1", "--max-bytes: "),
                ("--format png --max-bytes 2000", "--max-bytes: "),
                ("--format avif --animated", "--animated: has no meaning"),
                ("--animated --page 1", "--page: selects one frame"),
                ("--animated --time 50%", "--time: selects one moment, but animated"),
                ("--format gif --keep-profile", "--keep-profile: has no meaning"),
                ("--keep icc,all", "'icc,all' is invalid for '--keep"),
                ("--keep icc,icc", "'icc,icc' is invalid for '--keep"),
            ],
            10
        )
    )
    func mistakesAreRefusedByTheNameOfTheirOption(options: String, message: String) async throws {
        let deployment = try Deployment()
        let arguments = ["a.jpg"] + options.split(separator: " ").map(String.init)
        let result = try await deployment.command("cameo-enqueue", arguments)
        #expect(result.exitStatus == 2)
        #expect(result.errorText.contains(message), "\(result.errorText)")
        #expect(!FileManager.default.fileExists(atPath: deployment.store))
    }

    @Test func requestIsNotMixedWithOptions() async throws {
        let deployment = try Deployment()
        let request = #"{"source":"data:,","renditions":[{"width":9}]}"#
        for option in [["--size", "9x"], ["--blur", "3"], ["--preset", "gallery"], ["--batch", "b"]] {
            let arguments = ["--request", "-"] + option
            let result = try await deployment.command("cameo-enqueue", arguments, input: Data(request.utf8))
            #expect(result.exitStatus == 2)
            #expect(result.errorText.contains("\(option[0]): cannot be combined with --request"), "\(result.errorText)")
        }
    }
}
