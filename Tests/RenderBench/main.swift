import CMemory
import CameoImaging
import CameoModel
import CameoRenderMessages
import CameoSystem
import Foundation

// Renders pictures in this process, without worker or sandbox, so that callgrind can count the instructions of a picture:
// counts repeat, times on a busy machine do not. The difference between two numbers of rounds is free of the start.
//   cameo-render-bench ROUNDS RENDITIONS FILE…
//   valgrind --tool=callgrind .build/release/cameo-render-bench 3 '[{"width":256,"format":"jpeg"}]' photo.jpg
// It prints processor time and page faults a picture, and a digest of all answers.
let arguments = CommandLine.arguments
guard arguments.count >= 4, let rounds = Int(arguments[1]) else {
    fatalError("usage: cameo-render-bench ROUNDS RENDITIONS FILE…")
}
guard case .array(let wanted) = try JSONValue(parsing: arguments[2]) else { fatalError("RENDITIONS is a JSON array") }
var renditions: [Rendition] = []
for rendition in wanted { renditions.append(try Rendition(json: rendition, at: "renditions")) }
cameo_reuse_memory()
guard VipsLibrary.start() else { fatalError("libvips does not start") }

let job = Array(JobMessage(renditions: renditions, kinds: [.file]).frame.dropFirst(FrameHeader.byteCount))
let files = arguments.dropFirst(3)
var answers = Data()
var bytes = 0
let start = usage()
// In a thread of libvips, as the renderer does.
var failure: (any Error)?
let hasRun = VipsLibrary.run {
    do {
        for round in 1...rounds {
            for path in files {
                for answer in try render(path) {
                    if round == 1 { answers += answer }
                    bytes += answer.count
                }
            }
        }
    } catch {
        failure = error
    }
}
if let failure { throw failure }
guard hasRun else { fatalError("no thread") }
let end = usage()
let pictures = rounds * files.count
func perPicture(_ number: Double) -> String { String(format: "%.2f", number / Double(pictures)) }
print(
    "user \(perPicture(end.user - start.user)) ms, system \(perPicture(end.system - start.system)) ms,",
    "\(perPicture(end.faults - start.faults)) page faults, \(bytes / pictures) bytes a picture"
)
print(BlobDigest(of: answers).hex)

/// What a renderer does for a job: from the bytes of its message to those of the answer.
func render(_ path: String) throws -> [Data] {
    let job = try JobMessage(decoding: job)
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    let file = OpenFile(adopting: descriptor)
    let source = try SourceMapping(file.descriptor)
    let made = try PictureRenderer(limits: job.limits).render(job.renditions, of: source)
    return [Data(made.frame)] + made.renditions.map(\.bytes)
}

/// The process's time, in milliseconds, and its minor page faults.
func usage() -> (user: Double, system: Double, faults: Double) {
    var usage = rusage()
    getrusage(Int32(RUSAGE_SELF.rawValue), &usage)
    func milliseconds(_ time: timeval) -> Double { Double(time.tv_sec) * 1_000 + Double(time.tv_usec) / 1_000 }
    return (milliseconds(usage.ru_utime), milliseconds(usage.ru_stime), Double(usage.ru_minflt))
}
