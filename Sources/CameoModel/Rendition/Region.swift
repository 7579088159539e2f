extension Rendition {
    /// A part of a picture.
    public struct CropArea: Hashable, Sendable {
        /// What its numbers count.
        public enum Unit: String, CaseIterable, Sendable {
            /// Whole pixels of the source.
            case pixels
            /// Shares of the picture's width and height, 0…1.
            case fraction
        }

        /// Where it begins and how large it is.
        public var left, top, width, height: Double
        /// What these count.
        public var unit: Unit

        /// From its left upper corner.
        public init(left: Double, top: Double, width: Double, height: Double, unit: Unit = .pixels) {
            self.left = left
            self.top = top
            self.width = width
            self.height = height
            self.unit = unit
        }
    }

    /// Degrees clockwise.
    public enum Rotation: Int, CaseIterable, Sendable {
        case none = 0
        case quarter = 90
        case half = 180
        case threeQuarters = 270

        /// Whether width and height are exchanged.
        package var isSideways: Bool { self == .quarter || self == .threeQuarters }
    }

    /// How a picture is mirrored.
    public enum Flip: String, CaseIterable, Sendable {
        /// Left and right are exchanged.
        case horizontal
        /// Top and bottom are exchanged.
        case vertical
        case both
    }
}
