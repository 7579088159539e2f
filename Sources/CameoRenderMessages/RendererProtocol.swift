/// The protocol between worker and renderer.
///
/// DESIGN: one stream socket per renderer, at descriptor 3 in the child. Every message is a ``FrameHeader`` and a JSON
/// text; encoded pictures follow their message raw, so that nothing is copied or escaped.
///
///     child  → parent   hello      protocol and renderer version; the parent sends nothing before it arrives
///     parent → child    job        the renditions, with the descriptors of the source and its overlays beside the
///                              first byte (SCM_RIGHTS)
///     child  → parent   picture    what was made, followed by the encoded bytes of each rendition, in order
///                    or refusal    why nothing was made; of a partial video, what is missing
///
/// One job runs at a time. The parent trusts no answer: it checks lengths, counts, dimensions and magic bytes.
package enum RendererProtocol {
    /// The protocol version, raised with every change that an older peer would misread.
    package static let version = 6
    package static let socketDescriptor: Int32 = 3
    /// The first part of every renderer version, raised when the pixels that Cameo makes of a picture change.
    package static let imagingVersion = "cameo-5"
    /// The most bytes of a message's JSON text.
    package static let maximumMessageBytes = 1 << 20
    /// The most bytes of one encoded rendition, unless the job sets a lower limit.
    package static let maximumOutputBytes = 64 << 20
    /// The most bytes of all renditions of a job, unless the job sets a lower limit.
    package static let maximumTotalOutputBytes = 128 << 20
}
