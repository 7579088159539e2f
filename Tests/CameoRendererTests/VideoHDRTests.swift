import CameoModel
import CameoRenderer
import Foundation
import TestSupport
import Testing

/// Frames in PQ and HLG beside those of `ffmpeg` with its own tone mapping.
///
/// DESIGN: of ffmpeg's operators, `mobius` is of the same kind as Cameo's (`ToneCurve`): both leave light up to a knee as
/// it is, bend it smoothly above, map the nominal peak to white, and scale all channels of a pixel by what the largest one
/// asks for. With Cameo's knee, reference white (203 cd/m²) and peaks, and without ffmpeg's desaturation of bright colours,
/// the curves are at most 0.008 of white apart. So what is compared is everything but the choice of the curve. Operators of
/// another nature are further away: of the same frames, `reinhard` has a mean ΔE of 2 to 7, `hable` of up to 19, and `hable`
/// with its default desaturation, which is in many recipes, of 30, because they darken what is no highlight.
@Suite(.timeLimit(.minutes(10)), .needsVideo, .ownVideos)
struct VideoHDRTests {
    struct Signal: CustomTestStringConvertible, Sendable {
        let transfer: String
        /// In cd/m².
        let peak: Double
        let isGraded: Bool

        var testDescription: String { "\(transfer), \(isGraded ? "graded" : "every value")" }

        /// From a picture in SDR. As a film is graded, in 4:2:0, with SDR's white at 1000 cd/m²; or with its values taken for
        /// those of the signal, which has the brightest and most saturated colours then, in 4:4:4, because they differ by
        /// how chroma is enlarged more than by anything else.
        var filters: String {
            guard isGraded else { return "scale=out_color_matrix=bt2020,format=yuv444p10le" }
            let sdr = "format=gbrp,zscale=tin=iec61966-2-1:min=gbr:pin=bt709:rin=full"
            return "\(sdr):p=bt2020:t=\(transfer):m=bt2020nc:r=tv:npl=1000:agamma=0,format=yuv420p10le"
        }

        /// Measured: 1.3 for PQ and 2.3 for HLG; 0.01 and 0.2.
        var mostDifference: Double { isGraded ? 3 : 0.5 }
    }

    static let signals = [("smpte2084", 10_000.0), ("arib-std-b67", 1_000.0)].flatMap { transfer, peak in
        [true, false].map { Signal(transfer: transfer, peak: peak, isGraded: $0) }
    }

    @Test(arguments: TestLength.few(signals, whole: 2))
    func tonesAreThoseOfFFmpegsNearestOperator(signal: Signal) async throws {
        let path = try await Videos.make(
            [
                "-f", "lavfi", "-i", "testsrc2=s=640x360:r=10:d=0.2", "-vf", signal.filters, "-c:v", "libx265",
                "-x265-params",
                "log-level=none:qp=4:colorprim=bt2020:transfer=\(signal.transfer):colormatrix=bt2020nc:range=limited",
            ],
            as: "hdr.mp4"
        )
        // Without agamma=0, HLG is decoded without its OOTF.
        let light = "zscale=t=linear:npl=203:agamma=0:filter=bicubic,format=gbrpf32le,zscale=p=bt709"
        let tones = "tonemap=tonemap=mobius:param=0.75:desat=0:peak=\(signal.peak / 203)"
        let theirs = try await Videos.make(
            ["-i", path, "-frames:v", "1", "-vf", "\(light),\(tones),zscale=t=iec61966-2-1,format=gbrp,format=rgb24"],
            as: "theirs.png"
        )
        let (ours, facts) = try await Videos.frame(path, "0")
        #expect(facts.edges == [640, 360])
        let difference = Videos.difference(ours, try await PixelGrid(ofPNG: theirs, 640, 360))
        #expect(difference < signal.mostDifference, "\(difference)")
    }

    @Test func whiteAndBlackStay() async throws {
        let path = try await Videos.clip(
            "libx265",
            "-pix_fmt yuv420p10le -x265-params "
                + "log-level=none:keyint=10:colorprim=bt2020:transfer=smpte2084:colormatrix=bt2020nc",
            as: "pq.mp4"
        )
        let (pixels, facts) = try await Videos.frame(path, "0")
        #expect(facts.edges == [160, 120])
        // White is ten thousand nits, which PQ leaves white; half of its signal is a hundred, which is bright in SDR.
        #expect(pixels[20, 100].allSatisfy { $0 > 200 }, "\(pixels[20, 100])")
        #expect(pixels[60, 100].allSatisfy { $0 < 20 }, "\(pixels[60, 100])")
    }
}
