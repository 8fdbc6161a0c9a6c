#include "fatbin/mapped_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace cudamatrix::fatbin {

MappedFile MappedFile::open(const std::string& path) {
    MappedFile file;
    // O_NONBLOCK: a FIFO of that name must not hang the reader; fstat refuses it below.
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        file.error_ = std::strerror(errno);
        return file;
    }
    struct stat info {};
    if (::fstat(fd, &info) != 0) {
        file.error_ = std::strerror(errno);
    } else if (!S_ISREG(info.st_mode)) {
        file.error_ = "not a regular file";
    } else if (info.st_size > 0) {
        void* map = ::mmap(nullptr, static_cast<std::size_t>(info.st_size), PROT_READ, MAP_PRIVATE, fd, 0);
        if (map == MAP_FAILED) {
            file.error_ = std::strerror(errno);
        } else {
            file.map_ = {static_cast<const std::uint8_t*>(map),
                         Unmap{static_cast<std::size_t>(info.st_size)}};
        }
    }
    ::close(fd);
    return file;
}

void MappedFile::Unmap::operator()(const std::uint8_t* map) const {
    ::munmap(const_cast<std::uint8_t*>(map), size);
}

}  // namespace cudamatrix::fatbin
