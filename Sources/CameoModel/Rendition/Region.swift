extension Rendition {
    /// A rectangle of a picture.
    public struct CropArea: Hashable, Sendable {
        /// The unit of the coordinates.
        public enum Unit: String, CaseIterable, Sendable {
            /// Whole pixels of the source.
            case pixels
            /// Fractions of the picture's width and height, 0…1.
            case fraction
        }

        /// The position and size.
        public var left, top, width, height: Double
        /// The unit of the coordinates.
        public var unit: Unit

        /// Creates an area from its top left corner and size.
        public init(left: Double, top: Double, width: Double, height: Double, unit: Unit = .pixels) {
            self.left = left
            self.top = top
            self.width = width
            self.height = height
            self.unit = unit
        }
    }

    /// A clockwise rotation in degrees.
    public enum Rotation: Int, CaseIterable, Sendable {
        case none = 0
        case quarter = 90
        case half = 180
        case threeQuarters = 270

        /// Whether the rotation swaps width and height.
        package var isSideways: Bool { self == .quarter || self == .threeQuarters }
    }

    /// A mirroring.
    public enum Flip: String, CaseIterable, Sendable {
        /// Swaps left and right.
        case horizontal
        /// Swaps top and bottom.
        case vertical
        case both
    }
}
