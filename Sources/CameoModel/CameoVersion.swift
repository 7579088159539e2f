/// The version of this build, as shown by the commands and recorded in workers' rows.
package enum CameoVersion {
    package static let current = "0.2.0"
}
