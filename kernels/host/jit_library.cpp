#include "kernels/host/jit_library.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>

#include "kernels/host/library.hpp"
#include "kernels/host/paths.hpp"

namespace cudamatrix::suite {
namespace {

constexpr int kFirstMajor = 11;
constexpr int kLastMajor = 15;  // of the CUDA releases that are looked for where the promised one is absent

JitLibrary open_jit(const char* owner, const std::string& name, int cuda_major) {
    JitLibrary library;
    library.owner = owner;
    library.name = name;
    library.cuda_major = cuda_major;
    library.handle = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library.handle == nullptr) {
        library.error = load_error();
    } else {
        library.path = real_path(path_of_library(library.handle));
    }
    return library;
}

/// What --lib promises of it, "" when nothing.
std::string promised_jit(const Context& context, const JitLibraryName& name) {
    const std::string begin = std::string(name.stem) + ".so";
    for (const std::string& lib : context.libs) {
        if (file_name(lib).rfind(begin, 0) == 0) return lib;
    }
    return "";
}

std::optional<JitLibrary> toolkit_jit(const Context& context, const JitLibraryName& name) {
    const std::string promised = promised_jit(context, name);
    if (promised.empty() && context.expect_cuda.empty()) return std::nullopt;
    const int major = std::atoi(context.expect_cuda.c_str());
    JitLibrary library = open_jit("toolkit", promised.empty() ? jit_soname(name, major) : promised, major);
    if (library.handle != nullptr || !says_absent(library.error, library.name)) return library;
    for (int other = kFirstMajor; other <= kLastMajor && major != 0; ++other) {
        JitLibrary found = open_jit("toolkit", jit_soname(name, other), major);
        if (found.handle != nullptr) return found;
    }
    if (promised.empty()) return std::nullopt;
    return library;
}

/// site-packages, by torch's library among the files whose code is listed; "" where there is none.
std::string torch_site(const Context& context) {
    static const std::string kEnd = "/torch/lib/libtorch_cuda.so";
    for (const std::string& path : context.fatbins) {
        if (path.size() > kEnd.size() && path.compare(path.size() - kEnd.size(), kEnd.size(), kEnd) == 0)
            return path.substr(0, path.size() - kEnd.size());
    }
    return "";
}

/// "libnvrtc.so.12", and "libnvrtc-672ee683.so.11.2" as wheels of torch rename it; not
/// "libnvrtc-builtins...".
bool is_jit_file(const std::string& file, const std::string& stem) {
    if (file.rfind(stem, 0) != 0) return false;
    std::string rest = file.substr(stem.size());
    constexpr std::size_t kHash = 9;  // a dash and eight digits
    if (rest.size() > kHash && rest[0] == '-' && rest.find_first_not_of("0123456789abcdef", 1) == kHash) {
        rest = rest.substr(kHash);
    }
    return rest.rfind(".so.", 0) == 0;
}

/// libnvrtc of CUDA 13.0 does not look for its builtins beside itself. A torch that names them in its own
/// list of what it loads first is no worse for that.
void load_builtins_as_torch(const std::string& site, const std::string& library, const JitLibraryName& name) {
    namespace fs = std::filesystem;
    const std::string begin = std::string(name.stem) + "-builtins.so";
    std::ifstream in(site + "/torch/__init__.py", std::ios::binary);
    const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    if (text.find(begin) == std::string::npos) return;
    std::error_code error;
    for (fs::directory_iterator it(fs::path(library).parent_path(), error), end; !error && it != end;
         it.increment(error)) {
        if (it->path().filename().string().rfind(begin, 0) == 0)
            static_cast<void>(::dlopen(it->path().c_str(), RTLD_NOW | RTLD_LOCAL));
    }
}

std::optional<JitLibrary> torch_jit(const Context& context, const JitLibraryName& name) {
    namespace fs = std::filesystem;
    const std::string site = torch_site(context);
    const std::string lib = site + "/torch/lib";
    std::error_code error;
    // That torch is not there at all is torch.arch's finding.
    if (context.expect_torch_cuda.empty() || site.empty() || !fs::is_directory(lib, error))
        return std::nullopt;
    const int major = std::atoi(context.expect_torch_cuda.c_str());
    const std::string soname = jit_soname(name, major);
    std::vector<std::string> files = {site + "/nvidia/" + name.wheel + "/lib/" + soname,
                                      site + "/nvidia/cu" + std::to_string(major) + "/lib/" + soname};
    std::vector<std::string> own;
    for (fs::directory_iterator it(lib, error), end; !error && it != end; it.increment(error)) {
        if (is_jit_file(it->path().filename().string(), name.stem)) own.push_back(it->path().string());
    }
    std::sort(own.begin(), own.end());
    files.insert(files.end(), own.begin(), own.end());
    for (const std::string& file : files) {
        if (!fs::exists(file, error)) continue;
        load_builtins_as_torch(site, file, name);
        return open_jit("torch", file, major);
    }
    JitLibrary of_image = open_jit("torch", soname, major);
    if (of_image.handle == nullptr && !name.torch_has_one) return std::nullopt;
    return of_image;
}

}  // namespace

std::string jit_soname(const JitLibraryName& name, int cuda_major) {
    // libnvrtc of 11.2 and of every later 11.x say so.
    const bool nvrtc_11 = cuda_major == 11 && std::string(name.stem) == kNvrtcName.stem;
    return std::string(name.stem) + ".so." + (nvrtc_11 ? "11.2" : std::to_string(cuda_major));
}

std::vector<JitLibrary> find_jit_libraries(const Context& context, const JitLibraryName& name) {
    std::vector<JitLibrary> found;
    if (auto toolkit = toolkit_jit(context, name)) found.push_back(std::move(*toolkit));
    if (auto torch = torch_jit(context, name)) found.push_back(std::move(*torch));
    return found;
}

}  // namespace cudamatrix::suite
