// One image build from its call to its log.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/process.hpp"
#include "base/result.hpp"
#include "render/image/image.hpp"
#include "run/engine/engine.hpp"

namespace cudamatrix::job {

struct BuildCall {
    std::string what;           ///< shown in errors: the image's id
    std::filesystem::path log;  ///< gets everything that the engine printed, whatever the end
    std::chrono::milliseconds limit;
    const Cancellation* cancellation = nullptr;
    unsigned retries = 0;  ///< further attempts, where what failed may heal (heals_by_itself)
    std::chrono::milliseconds pause{
        0};  ///< before the first of them; each further one waits four times as long
    std::function<void(std::string_view line)> tell = {};  ///< what it is at
};

/// Runs the build. A build that fails is a Failure with code `findings` whose message holds the line that
/// says most; an interrupt one with code `interrupted` and no diagnostics; an engine that cannot be reached
/// or called, `environment`. What the network or a registry spoilt is tried again.
[[nodiscard]] Status engine_build(const engine::Engine& engine, const engine::BuildRequest& request,
                                  const BuildCall& call);

/// The call that it makes: with the proxies of this process.
[[nodiscard]] Command build_command(const engine::Engine& engine, engine::BuildRequest request);

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
    std::chrono::milliseconds limit{std::chrono::minutes(60)};
    bool anew = false;  ///< make it again, though it is there; what was there is kept until settle_bootstrap
};

/// Whether such a command takes packages from an earlier state of the archive.
[[nodiscard]] bool is_of_snapshot(const std::vector<std::string>& command);

/// Gives the tar of `bootstrap`, making it where it is missing, torn or made by another command. A missing
/// mmdebstrap and a failing one are environment failures (exit code 3); an interrupt is a Failure without
/// diagnostics. A tar under its final name is always whole.
[[nodiscard]] Result<BootstrapTar> ensure_bootstrap(const Bootstrap& bootstrap,
                                                    const BootstrapContext& context);

/// The program that ensure_bootstrap would start; nothing where the tar is there.
[[nodiscard]] std::optional<Command> bootstrap_command(const Bootstrap& bootstrap,
                                                       const BootstrapContext& context);

/// Ends what `anew` began: the tar that was there before is removed, or (`back`) put in the place of the new
/// one. A file that cannot be moved or removed is an environment failure that names it.
[[nodiscard]] Status settle_bootstrap(const Bootstrap& bootstrap, const std::filesystem::path& folder,
                                      bool back);

}  // namespace cudamatrix::job
