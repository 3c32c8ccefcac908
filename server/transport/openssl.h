// OpenSSL, loaded when it is first called: the loader takes 1 ms to bind it, a thirtieth of the
// server's start, and only sockets need it. To be included before Asio's own header for TLS.
#pragma once

#include <openssl/conf.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>

#include "protocol/base/result.h"

namespace kenaz {

/// Loads it unless it has been; an error if it cannot be. By any thread.
Status load_openssl();

}  // namespace kenaz

/// Global as Asio calls ::SSL_new and the like.
struct KenazOpenssl {
#define OPENSSL_FUNCTION(name) decltype(&::name) name##_;
#include "server/transport/openssl_functions.def"
#undef OPENSSL_FUNCTION
};
/// Without OpenSSL the process ends: whoever calls this first has asked load_openssl.
const KenazOpenssl& kenaz_openssl();
/// Nothing if it has not been loaded: Asio calls it at the end of every process.
void kenaz_unload_openssl_modules(int all);

#define BIO_ctrl kenaz_openssl().BIO_ctrl_
#define BIO_ctrl_pending kenaz_openssl().BIO_ctrl_pending_
#define BIO_free kenaz_openssl().BIO_free_
#define BIO_new_bio_pair kenaz_openssl().BIO_new_bio_pair_
#define BIO_read kenaz_openssl().BIO_read_
#define BIO_write kenaz_openssl().BIO_write_
#define CRYPTO_memcmp kenaz_openssl().CRYPTO_memcmp_
#define ERR_clear_error kenaz_openssl().ERR_clear_error_
#define ERR_get_error kenaz_openssl().ERR_get_error_
#define ERR_lib_error_string kenaz_openssl().ERR_lib_error_string_
#define ERR_reason_error_string kenaz_openssl().ERR_reason_error_string_
#define RAND_bytes kenaz_openssl().RAND_bytes_
#define SSL_CTX_ctrl kenaz_openssl().SSL_CTX_ctrl_
#define SSL_CTX_free kenaz_openssl().SSL_CTX_free_
#define SSL_CTX_get_default_passwd_cb_userdata \
  kenaz_openssl().SSL_CTX_get_default_passwd_cb_userdata_
#define SSL_CTX_get_ex_data kenaz_openssl().SSL_CTX_get_ex_data_
#define SSL_CTX_new kenaz_openssl().SSL_CTX_new_
#define SSL_CTX_set_default_passwd_cb_userdata \
  kenaz_openssl().SSL_CTX_set_default_passwd_cb_userdata_
#define SSL_CTX_set_ex_data kenaz_openssl().SSL_CTX_set_ex_data_
#define SSL_CTX_set_options kenaz_openssl().SSL_CTX_set_options_
#define SSL_CTX_use_PrivateKey_file kenaz_openssl().SSL_CTX_use_PrivateKey_file_
#define SSL_CTX_use_certificate_chain_file kenaz_openssl().SSL_CTX_use_certificate_chain_file_
#define SSL_accept kenaz_openssl().SSL_accept_
#define SSL_connect kenaz_openssl().SSL_connect_
#define SSL_ctrl kenaz_openssl().SSL_ctrl_
#define SSL_free kenaz_openssl().SSL_free_
#define SSL_get_error kenaz_openssl().SSL_get_error_
#define SSL_get_ex_data kenaz_openssl().SSL_get_ex_data_
#define SSL_get_shutdown kenaz_openssl().SSL_get_shutdown_
#define SSL_new kenaz_openssl().SSL_new_
#define SSL_read kenaz_openssl().SSL_read_
#define SSL_set_bio kenaz_openssl().SSL_set_bio_
#define SSL_set_ex_data kenaz_openssl().SSL_set_ex_data_
#define SSL_write kenaz_openssl().SSL_write_
#define TLS_client_method kenaz_openssl().TLS_client_method_
#define TLS_method kenaz_openssl().TLS_method_
#define TLS_server_method kenaz_openssl().TLS_server_method_
#define CONF_modules_unload kenaz_unload_openssl_modules
