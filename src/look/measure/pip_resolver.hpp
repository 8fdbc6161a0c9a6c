// pip's own resolver, asked for sets of pins: a dry run that installs nothing and runs no code of packages.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/process.hpp"
#include "knowledge/facts/facts.hpp"
#include "knowledge/facts/resolution.hpp"
#include "look/measure/measure.hpp"
#include "look/measure/rows.hpp"

namespace cudamatrix::measure {

/// `index`: the one that the rows are said to be of. `out`: where they are written.
struct PipRequest : IndexRequest {
    std::vector<PipQuestion> questions;
    std::string mirror;                           ///< of the default index; empty: pip asks its own
    std::map<std::string, std::string> variants;  ///< "cu118" -> where those builds of torch are
    Environment environment;
    const Cancellation* cancellation = nullptr;
    std::chrono::seconds time_limit{600};  ///< of one question
};

struct PipAnswers {
    std::size_t rows = 0;
    std::vector<std::string> untold;   ///< why there is no answer to a question, one line each
    std::vector<std::string> unasked;  ///< what this machine lacks for some of them, once each
};

/// Asks each question that this machine can answer and writes the answers as rows of `resolutions`. pip
/// evaluates the conditions of demands (python_version, platform_machine) for the interpreter that it runs
/// in, whatever --python-version and --platform say (pypa/pip#11664): only a python of the same minor on the
/// same processor is asked, by the first of `python3 -m pip`, `pythonX.Y -m pip` and the pip of python3 with
/// --python pythonX.Y whose pip is new enough. That is 25.3: older ones read every wheel to its end in a dry
/// run (pypa/pip#12603), gigabytes for torch. --only-binary :all: keeps pip from building a source
/// of an index, which would run its code, and python is kept from starting any program (sitecustomize), so
/// that neither is one built that a demand names by its URL. Failures: an interrupt (what was answered before
/// it is written), a folder that cannot be written.
[[nodiscard]] Result<PipAnswers> ask_pip(const PipRequest& request, const Facts& facts);

// Its parts, for tests.

/// What follows `pip`: the pins come last, behind "--".
[[nodiscard]] std::vector<std::string> pip_arguments(const PipQuestion& question, const PipRequest& request,
                                                     const Facts& facts, const std::string& folder);

/// The row that the end of a run gives; `report`: the file that it wrote, `pip`: its version. Failure: it is
/// no answer, for the reason that the diagnostic says: killed, an index that could not be read, a report that
/// is none.
[[nodiscard]] Result<MeasuredRow> resolution_row(const PipQuestion& question, const Outcome& outcome,
                                                 std::string_view report, std::string_view pip,
                                                 const PipRequest& request);

}  // namespace cudamatrix::measure
