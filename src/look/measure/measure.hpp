// Jobs that measure: wheels of torch, of other packages and of the CUDA toolkit become rows of an overlay.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "knowledge/facts/pep440.hpp"
#include "look/measure/inspection.hpp"

namespace cudamatrix::measure {

/// What was seen of wheels, in the folder of the rows (InspectionCache).
inline constexpr std::string_view kMeasuredFile = "measured.jsonl";

/// Pages of the index, in the same folder (PageCache).
inline constexpr std::string_view kPagesFolder = "pages";

/// Where a job asks and writes.
struct IndexRequest {
    std::string index;           ///< its URL
    bool default_index = false;  ///< it is the one that pip would ask
    std::string out = "cudamatrix-facts";
    std::string facts;  ///< the overlay that the facts were read with
    unsigned jobs = 6;
    std::string today;  ///< YYYY-MM-DD
    Progress progress;
};

struct MeasureRequest : IndexRequest {
    std::vector<std::string> packages;  ///< or, if is_image, references
    /// Of a package only these releases, yanked ones and pre-releases among them; empty: all.
    std::map<std::string, std::set<std::string>> exactly = {};
    std::string versions;  ///< as for pip: ">=1.13"
    std::string arch = "x86_64,aarch64";
    bool held = false;             ///< of torch: what its libraries hold, too
    bool known_libraries = false;  ///< with held: only of libraries that torch_libraries knows by name
    bool execute = false;          ///< of the toolkit: each ptxas is run
    bool accept = false;           ///< rows that contradict known ones are written, too
    bool fill = false;             ///< of those is written what the known ones lack
    bool missing = false;          ///< only releases whose row was listed but never opened
    bool is_torch = false;
    bool is_toolkit = false;
    bool is_image = false;  ///< the configurations of images are read
    std::vector<std::string> layers =
        {};                 ///< of images, for these processors: what their libraries hold, too
    bool may_lack = false;  ///< that the index has nothing of it is no failure
    /// Of torch from the index of one variant: builds of `exactly` that it does not list become rows of
    /// absent_torch_builds, with this source. Empty: they do not.
    std::string absent_source = {};
    std::string absent_note = {};
};

struct Measured {
    std::vector<Compared> rows;
    std::vector<std::string> not_measured;
    std::vector<std::string> other_libraries;  ///< with code, and known to no row by name
    std::vector<std::string> left_out;         ///< rows that the tables would refuse
    std::size_t remembered = 0;
    std::uint64_t bytes = 0;
    std::uint64_t requests = 0;

    /// A row that is there already by its id stays as it is.
    void add(MeasuredRow row, const Facts& facts);
    /// What looking at a task gave, but for rows: a failure is one of not_measured. True: it was looked at.
    [[nodiscard]] bool note(const Inspection& seen);
    [[nodiscard]] std::size_t count(RowStatus status) const;
};

/// Measures, and writes the rows to request.out. What could not be looked at is one of not_measured.
/// Failures: an index without the project, a specifier or processor that is none, a folder that cannot be
/// written, an interrupt (without a diagnostic).
[[nodiscard]] Result<Measured> measure(const MeasureRequest& request, const Facts& facts, Http& http);

[[nodiscard]] bool is_interrupted(const Http& http);

/// What request.versions admits; input failure: it is no version specifier.
[[nodiscard]] Result<pep440::Specifiers> versions_of(const MeasureRequest& request);

/// The part for images: manifests and configurations, and of those that request.layers asks for the layers.
[[nodiscard]] Status measure_images(const MeasureRequest& request, const Facts& facts, Http& http,
                                    InspectionCache& inspected, Measured& measured);

/// The part for the toolkit: the meta packages of all releases that request.versions admits, and the compiler
/// of the newest release of each minor.
[[nodiscard]] Status measure_toolkits(const MeasureRequest& request, const Facts& facts, Http& http,
                                      InspectionCache& inspected, Measured& measured);

}  // namespace cudamatrix::measure
