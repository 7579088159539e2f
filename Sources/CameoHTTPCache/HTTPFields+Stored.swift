extension HTTPFields {
    /// The fields of an answer that a cache keeps: all but those that are for the connection or a proxy (section 3.1).
    package var storable: HTTPFields { self }
}
