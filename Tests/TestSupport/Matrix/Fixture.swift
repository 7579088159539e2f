/// A picture file: a scene, and how it is stored. Every fixture carries secrets in all the metadata that its format has
/// (``secret``), so that whatever is left of them in a thumbnail shows.
package struct Fixture: Hashable, Sendable {
    /// What all secrets begin with.
    package static let secret = "SECRET"
    /// Of an animation's frames, milliseconds.
    package static let delays = [50, 120, 300]
    /// How often an animation is shown.
    package static let loop = 2

    package let scene: Scene
    /// As in `jpg`.
    package let ending: String
    /// libvips' saver and its options, as in `jpegsave --interlace`.
    package let saver: String
    /// 1…8, as EXIF counts; of HEIF the container's own turn (1, 3, 6, 8).
    package let orientation: Int
    package let hasProfile: Bool

    package init(_ ending: String, _ saver: String, of scene: Scene, orientation: Int = 1, hasProfile: Bool = false) {
        self.scene = scene
        self.ending = ending
        self.saver = saver
        self.orientation = orientation
        self.hasProfile = hasProfile
    }

    /// The scene itself, in sRGB with 16 bits: what every colour should come out as.
    package var truth: Fixture {
        var plain = scene
        plain.depth = .sixteen
        plain.space = scene.space.isGrey ? .grey : .srgb
        return Fixture("v", "copy", of: plain)
    }

    /// A name that no other fixture has.
    package var name: String {
        let words = "\(scene)-\(saver)-\(orientation)-\(hasProfile)"
        return String(words.map { $0.isLetter || $0.isNumber || $0 == "-" ? $0 : "_" }) + ".\(ending)"
    }
}
