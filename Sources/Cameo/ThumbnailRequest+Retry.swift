internal import CameoModel

extension ThumbnailRequest {
    /// How long to wait between attempts. A server's `Retry-After` is waited out in any case.
    public struct Retry: Hashable, Sendable {
        /// Seconds before the second attempt, 0.1 to 86,400; each further wait is twice the one before.
        public var base: Double?
        /// Seconds that no wait exceeds, 0.1 to 604,800.
        public var cap: Double?
        /// Which part of a wait is left to chance: 0 none, 1 all of it.
        public var jitter: Double?

        /// What is left out is the worker's to say.
        public init(base: Double? = nil, cap: Double? = nil, jitter: Double? = nil) {
            self.base = base
            self.cap = cap
            self.jitter = jitter
        }

        init(_ wish: RetryWish) {
            self.init(base: wish.base, cap: wish.cap, jitter: wish.jitter)
        }

        var model: RetryWish { RetryWish(base: base, cap: cap, jitter: jitter) }
    }

    /// When thumbnails that exist already are made anew.
    public enum Refresh: Hashable, Sendable {
        /// Not at all: what there is answers, whatever has become of the source.
        case never
        /// When the source's bytes have changed. What cannot have changed, or is known to be fresh, answers at once.
        case ifChanged
        /// In any case.
        case always

        init(_ model: CameoModel.Refresh) {
            self =
                switch model {
                case .never: .never
                case .ifChanged: .ifChanged
                case .always: .always
                }
        }

        var model: CameoModel.Refresh {
            switch self {
            case .never: .never
            case .ifChanged: .ifChanged
            case .always: .always
            }
        }
    }
}
