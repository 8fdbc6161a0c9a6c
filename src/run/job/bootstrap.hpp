// The tar of a distribution from which a `debian` image starts: made once per suite, kept in the output
// folder, linked into the contexts that need it.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "base/process.hpp"
#include "base/result.hpp"
#include "render/image/image.hpp"

namespace cudamatrix::job {

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
