import CameoModel
import CameoRenderMessages
import Foundation
import Testing

@Suite(.timeLimit(.minutes(10)))
struct MessageTests {
    @Test(arguments: FrameHeader.Kind.allCases)
    func headersComeBack(_ kind: FrameHeader.Kind) throws {
        for length in [0, 1, 255, 256, RendererProtocol.maximumMessageBytes] {
            let header = FrameHeader(kind: kind, length: length)
            #expect(try FrameHeader(decoding: header.bytes) == header)
        }
    }

    @Test(
        arguments: [[], [1, 2, 3], Array("HEL1".utf8) + [0, 0, 0, 1, 0], Array("HEL2".utf8) + [1, 0, 0, 0]] as [[UInt8]]
    )
    func headerOfTheWrongShapeIsRefused(_ bytes: [UInt8]) {
        #expect(throws: MalformedMessage.self) { try FrameHeader(decoding: bytes) }
    }

    @Test(arguments: [[1, 0, 16, 0], [0, 0, 0, 128], [255, 255, 255, 255]] as [[UInt8]])
    func lengthOverTheLimitIsRefused(_ length: [UInt8]) {
        #expect(throws: MalformedMessage.self) { try FrameHeader(decoding: Array("PIC1".utf8) + length) }
    }

    @Test func messagesComeBack() throws {
        func back<Message: RenderMessage & Equatable>(_ message: Message) throws {
            #expect(try Message(decoding: message.frame.dropFirst(FrameHeader.byteCount)) == message)
            let header = try FrameHeader(decoding: message.frame.prefix(FrameHeader.byteCount))
            #expect(header == FrameHeader(kind: Message.kind, length: message.frame.count - FrameHeader.byteCount))
        }
        for (layer, version) in [(true, 0), (false, 7)] {
            var sandbox = SandboxReport()
            (sandbox.hasNoNewPrivileges, sandbox.landlockVersion) = (layer, version)
            (sandbox.hasSystemCallFilter, sandbox.hasNoCapabilities) = (layer, !layer)
            try back(HelloMessage(rendererVersion: "cameo-3 libvips-8.14.1", sandbox: sandbox))
        }
        try back(RefusalMessage(.corrupt, predicate: "is a damaged “JPEG” file\n"))
        let renditions = [
            Rendition(width: 3), Rendition(height: 4, fit: .fill, withoutEnlargement: false, format: .avif, quality: 7),
            Rendition(width: 9, height: 9, fit: .contain, gravity: .north, background: Color("#12345678")),
        ]
        var limits = RenderLimits()
        (limits.pixels, limits.edge, limits.frames, limits.animatedPixels, limits.drawingBytes) = (1, 2, 3, 4, 5)
        (limits.outputBytes, limits.totalOutputBytes) = (6, 7)
        try back(
            JobMessage(
                renditions: renditions,
                overlays: ["file:///a.png"],
                kinds: [.file, .initials],
                limits: limits,
                toleratesTruncation: true
            )
        )
        let source = PictureFacts(format: .jpeg, width: 5, height: 6, pages: 7, hasAlpha: true)
        let rendition = EncodedRendition(
            byteCount: 99,
            width: 16_383,
            height: 1,
            format: .webp,
            hasAlpha: true,
            frames: 12,
            placeholder: Placeholder(
                thumbHash: "1QcSHQRnh493V4dIh4eXh1h4kJUI",
                blurHash: "L6Pj0^",
                dominantColor: .white
            )
        )
        try back(RenderedPicture(source: source, isTruncated: true, renditions: [rendition]))
    }

    @Test func jobWithoutRenditionsIsRefused() {
        let job = JobMessage(renditions: [], kinds: [.file])
        #expect(throws: MalformedMessage.self) {
            try JobMessage(decoding: job.frame.dropFirst(FrameHeader.byteCount))
        }
    }

    @Test func onlyAWorkersOwnArgumentsStartARenderer() {
        for formats in [[], [.pdf], [.jxl, .pdf]] as [Set<PictureFormat>] {
            let arguments = RendererArguments(parent: 42, memoryLimitBytes: 1 << 30, allowedFormats: formats)
            #expect(RendererArguments(arguments.words) == arguments)
        }
        for words in [
            [], ["serve"], ["serve", "1", "0", "5", "-"], ["serve", "1", "5", "-1", "-"], ["serve", "1", "5", "5"],
            ["serve", "1", "5", "5", "psd"], ["serve", "1", "5", "5", "jpeg"], ["serve", "1", "5", "5", "jxl,"],
            ["serve", "1", "5", "5", ""], ["serve", "1", "5", "5", "-", "-"],
        ] {
            #expect(RendererArguments(words) == nil)
        }
    }
}
