#pragma once

#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "temp_folder.hpp"

/// What the suite's tests share: a folder that goes away, and variables of the environment that come back.
namespace scratch {

struct Folder : cudamatrix::test::TempFolder {
    [[nodiscard]] std::string path() const { return TempFolder::path().string(); }
    std::string write(const std::string& name, const std::string& text) const { return put(name, text); }
};

class Environment {
  public:
    Environment(std::initializer_list<std::pair<const char*, const char*>> values) {
        for (const auto& [name, value] : values) {
            const char* old = ::getenv(name);
            old_.emplace_back(name, old != nullptr ? std::optional<std::string>(old) : std::nullopt);
            ::setenv(name, value, 1);
        }
    }
    Environment(const Environment&) = delete;
    Environment& operator=(const Environment&) = delete;
    ~Environment() {
        for (const auto& [name, value] : old_) {
            if (value) {
                ::setenv(name.c_str(), value->c_str(), 1);
            } else {
                ::unsetenv(name.c_str());
            }
        }
    }

  private:
    std::vector<std::pair<std::string, std::optional<std::string>>> old_;
};

}  // namespace scratch
