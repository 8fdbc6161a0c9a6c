// images: and services: of a matrix file. They make no cells.
#pragma once

#include <string>
#include <vector>

#include "base/diagnostic.hpp"
#include "matrix/condition.hpp"

namespace cudamatrix {

/// A text with its place.
struct Word {
    std::string text;
    Location where;
};

/// A variable that an entry of images or services sets.
struct Variable {
    std::string name;
    std::string value;
    Location where;  ///< of the name
};

/// A file or folder beside the matrix file that an image gets.
struct Copy {
    std::string from;  ///< relative to the matrix file's folder, without a ".." step
    std::string to;    ///< absolute, in the image
    Location where;    ///< of `from`
};

struct Healthcheck {
    std::vector<std::string> test;                ///< argv; empty: none
    std::string interval, timeout, start_period;  ///< "30s"; empty: the engine's default
    std::string retries;
};

/// One entry of images: one image for each distinct content among the cells that `when` matches.
struct ImageEntry {
    std::string name;
    Condition when;  ///< without clauses: every cell
    std::vector<Word> apt;
    Word requirements;          ///< a file of requirements beside the matrix file; empty text: none
    std::vector<Variable> pip;  ///< exact requirements, those of the file among them
    std::vector<Copy> copy;
    std::vector<Variable> env;
    Healthcheck healthcheck;
    Location where;  ///< of the name
};

/// One entry of services: how a container of an image is started. One compose service for each image of it.
struct Service {
    struct Gpu {
        bool all = false;
        unsigned count = 0;              ///< where neither `all` nor `ids`; 0: the service needs no GPU
        std::vector<std::string> ids;    ///< "0", "GPU-..."
        std::vector<Word> capabilities;  ///< besides "gpu": compute, utility, ...
        [[nodiscard]] bool asked() const { return all || count != 0 || !ids.empty(); }
    };
    struct Ulimit {
        std::string name;        ///< memlock, nofile, nproc, stack
        std::string soft, hard;  ///< a number, or -1 for none
    };
    struct Volume {
        std::string source;  ///< a volume's name, or a folder "./..." relative to the matrix file
        std::string target;  ///< absolute
        bool read_only = false;
        [[nodiscard]] bool named() const { return !source.starts_with('.'); }
    };
    std::string name;
    Word image;  ///< name of an entry of images; empty text: every image
    std::vector<std::string> command;
    Gpu gpu;
    std::string shm_size;  ///< "8g"; empty: what the cells ask for
    std::vector<Ulimit> ulimits;
    std::vector<Volume> volumes;
    std::vector<Word> ports;  ///< "127.0.0.1:8080:80/tcp"
    std::vector<Variable> environment;
    Healthcheck healthcheck;
    std::vector<Word> depends_on;  ///< names of services
    std::string restart;           ///< no, always, on-failure, unless-stopped; empty: compose's default
    Location where;                ///< of the name
};

struct Deployment {
    std::vector<ImageEntry> images;  ///< empty: one image for each content, with nothing added
    std::vector<Service> services;   ///< empty: one for each image
};

}  // namespace cudamatrix
