// --look: what no fact knows is measured before it is judged, into facts of the user's own.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "commands/command.hpp"
#include "knowledge/facts/facts.hpp"
#include "knowledge/facts/resolution.hpp"
#include "knowledge/judge/pip_questions.hpp"
#include "knowledge/solve/suggest.hpp"
#include "look/measure/measure.hpp"
#include "look/measure/pip_resolver.hpp"
#include "matrix/matrix.hpp"

namespace cudamatrix {

/// The user's own facts, which --look measured: $XDG_CACHE_HOME/cudamatrix/facts, or the same below ~/.cache.
/// An environment failure where neither is set.
[[nodiscard]] Result<std::filesystem::path> own_store(const World& world);

/// The rows of `store` lie over those of `overlay` (the folder of --facts; empty: none): they were measured.
/// A store that is not there has no rows.
[[nodiscard]] Result<Facts> facts_with_store(const std::string& overlay, const std::filesystem::path& store,
                                             const World& world);

/// What --look and --look=deep are to the parser.
inline constexpr std::string_view kLook = "declared", kLookDeep = "deep";

struct Loaded;

/// --look: what no fact knows of the packages, images and builds of torch that the matrix names is measured
/// now, through its mirrors, into the user's own store of facts, which `loaded.facts` then rests on as well
/// (with `overlay`, the folder of --facts, and over the configurations of its lock). Where it names a GPU,
/// the code in the libraries of such a torch is read, and with `deep` that in the layers of such images.
/// Last, pip's resolver is asked about the torch and packages of cells that nothing else rejects at install.
/// What cannot be found out stays unknown, and stderr says why.
[[nodiscard]] Status look(const std::string& overlay, const World& world, bool deep, Loaded& loaded);

/// Asks pip's resolver and lays its answers over `facts`; true: there is one. What it cannot tell stderr
/// says.
[[nodiscard]] Result<bool> look_with_pip(const PipQuestions& questions, const std::string& overlay,
                                         const Mirrors& mirrors, const World& world, Facts& facts);

/// What `suggest` is asked for.
struct Wanted {
    std::vector<std::pair<Field, std::string>> fields;
    std::vector<solve::Need> needs;
};

/// --look of `suggest`: the same for the torch and the packages that are asked for, and of known packages
/// releases that are newer than all that the facts have; from the index that pip would ask.
[[nodiscard]] Status look_for(const Wanted& wanted, const std::string& overlay, const World& world,
                              Facts& facts);

// What is asked of whom: no request is made here.

/// What a matrix or a search names that may have to be looked at.
struct Named {
    std::map<std::string, std::set<std::string>> packages;  ///< by canonical name: exact versions
    std::set<std::string> images;   ///< of repositories that no fact describes, in full, with their tags
    std::set<std::string> torches;  ///< as written
    std::set<std::string> arches;   ///< that a cell is for: x86_64, aarch64
    bool gpu = false;               ///< a cell names one, or a compute capability
};
[[nodiscard]] Named named_in(const Matrix& matrix, const Facts& facts);
[[nodiscard]] Named named_in(const std::vector<std::pair<Field, std::string>>& fields, const Facts& facts);

using Requests = std::vector<measure::MeasureRequest>;

/// Packages and images that no fact describes. With `deep`, and where a GPU is named, images whose layers
/// were not read for one of the processors, too.
[[nodiscard]] Requests package_requests(const Named& named, const Facts& facts);
[[nodiscard]] Requests image_requests(const Named& named, const Facts& facts, bool deep);

/// Builds of torch that no fact describes and that there may be: at the default index, and those that name
/// their variant at the index of that variant, where one can be named. An index that was seen `today` not to
/// list a build is not asked again.
[[nodiscard]] Requests torch_requests(const Named& named, const Facts& facts, std::string_view today);
[[nodiscard]] Requests variant_requests(const Named& named, const Facts& facts, const Mirrors& mirrors,
                                        std::string_view today);
/// The code in the libraries of builds that `facts` describe and `before`, without the user's own, did not,
/// or whose architectures no fact lists; `was_read` says of which wheels (by sha256) they were read. None
/// where no GPU is named.
[[nodiscard]] Requests code_requests(const Named& named, const Facts& facts, const Facts& before,
                                     const Mirrors& mirrors,
                                     const std::function<bool(const std::string& sha256)>& was_read);

/// What pip's resolver is asked: the questions, and where it finds their wheels, where the matrix or facts
/// say it. `index`: the one that pip would ask by itself.
[[nodiscard]] measure::PipRequest pip_request(const std::set<PipQuestion>& questions, const Facts& facts,
                                              const Mirrors& mirrors, const std::string& index);

/// Packages without a known release that the need admits, and newer releases of the others.
[[nodiscard]] Requests need_requests(const std::vector<solve::Need>& needs, const Facts& facts);

}  // namespace cudamatrix
