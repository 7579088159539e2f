/// What worker and renderer agree on before the first message.
///
/// DESIGN: one stream socket per renderer, at descriptor 3 in the child. Every message is a ``FrameHeader`` and a JSON
/// text; pixels follow their message raw, so that nothing is copied or escaped.
///
///     child  → parent   hello      its protocol and renderer version; nothing is sent to it before
///     parent → child    job        the renditions, with the descriptors of the source and its overlays beside the
///                              first byte (SCM_RIGHTS)
///     child  → parent   picture    what was made, followed by the encoded bytes of each rendition, in order
///                    or refusal    why nothing was made
///
/// One job at a time. The parent trusts none of it: lengths, counts, dimensions and magic bytes are checked.
package enum RendererProtocol {
    /// Raised with every change that an older side would misread.
    package static let version = 3
    package static let socketDescriptor: Int32 = 3
    /// The first part of every renderer version; raised when the pixels that Cameo makes of a picture change.
    package static let imagingVersion = "cameo-2"
    /// Bytes of a message's JSON text.
    package static let maximumMessageBytes = 1 << 20
    /// Bytes of one encoded rendition, and of all of one job, unless the job says less.
    package static let maximumOutputBytes = 64 << 20
    package static let maximumTotalOutputBytes = 128 << 20
}
