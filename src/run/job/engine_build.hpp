// One image build from its call to its log.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/process.hpp"
#include "base/result.hpp"
#include "render/image/image.hpp"
#include "run/engine/engine.hpp"
#include "run/job/schedule.hpp"

namespace cudamatrix::job {

struct BuildCall {
    std::string what;           ///< shown in progress and errors: the image's id
    std::filesystem::path log;  ///< gets everything that the engine printed, whatever the end
    std::chrono::milliseconds limit;
    const Cancellation* cancellation = nullptr;
};

/// Tells which lines of an image build are worth a word: the beginning of each step, once ("#7 [devel 2/4]
/// RUN ..."), and errors. Gives the text to show, empty for all others.
class BuildNarrator {
  public:
    [[nodiscard]] std::string tell(std::string_view line);

  private:
    std::string last_;
};

/// Runs the build. A build that fails is a Failure with code `findings` whose message holds the line that
/// says most; an interrupt one with code `interrupted` and no diagnostics; an engine that cannot be reached
/// or called, `environment`.
[[nodiscard]] Status engine_build(const engine::Engine& engine, const engine::BuildRequest& request,
                                  const BuildCall& call, Ticker& ticker);

/// The line of a build's output that says why it failed: the last one with "ERROR" or "error:", else the last
/// one at all; and the certificate that it did not trust.
[[nodiscard]] std::string build_error(std::string_view output);

// The commit that an image is made from: org.opencontainers.image.revision of the OCI image specification.
struct SourceRevision {
    std::string id;  ///< the commit's whole hash; with "-dirty" where a file is not as it has it; or empty
    std::string why_none;  ///< why it is empty
};

/// Asks git, which runs nothing of the repository, for the commit that holds `files` (relative to `folder`;
/// the matrix file first). A file that git does not know makes it dirty, a matrix file that it does not know
/// belongs to no commit. Never a failure: an image is built without a repository as well.
[[nodiscard]] SourceRevision source_revision(const std::filesystem::path& folder,
                                             const std::vector<std::string>& files,
                                             const Environment& environment,
                                             const Cancellation* cancellation);

// The tar of a distribution from which a `debian` image starts: made once per suite, kept in the output
// folder, linked into the contexts that need it.

struct BootstrapTar {
    std::filesystem::path path;
    std::string sha256;
    bool reused = false;  ///< it was there already, whole, and made by the same command
};

struct BootstrapContext {
    std::filesystem::path folder;  ///< where tars are kept
    Environment environment;       ///< of this process
    const Cancellation* cancellation = nullptr;
    Progress progress;
    bool anew = false;  ///< make it again, though it is there; what was there is kept until settle_bootstrap
};

/// Gives the tar of `bootstrap`, making it where it is missing, torn or made by another command. A missing
/// mmdebstrap and a failing one are environment failures (exit code 3); an interrupt is a Failure without
/// diagnostics. A tar under its final name is always whole.
[[nodiscard]] Result<BootstrapTar> ensure_bootstrap(const Bootstrap& bootstrap,
                                                    const BootstrapContext& context);

/// Ends what `anew` began: the tar that was there before is removed, or (`back`) put in the place of the new
/// one.
void settle_bootstrap(const Bootstrap& bootstrap, const std::filesystem::path& folder, bool back);

}  // namespace cudamatrix::job
