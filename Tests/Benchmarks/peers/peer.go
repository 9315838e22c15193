// One sign-in in Go, with golang-jwt and go-sqlite3: the work of auth-apple's POST /auth/apple. As `peer lines` one event a line.
package main

import (
	"bufio"
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/subtle"
	"database/sql"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"math/big"
	"os"
	"strings"
	"time"

	"github.com/golang-jwt/jwt"
	_ "github.com/mattn/go-sqlite3"
)

const (
	leeway         = 60
	accessSeconds  = 900
	refreshSeconds = 30 * 24 * 3600
	sessionSeconds = 365 * 24 * 3600
)

// ---- Keys

type jwk struct {
	Kid   string `json:"kid"`
	N     string `json:"n"`
	E     string `json:"e"`
	X     string `json:"x"`
	Y     string `json:"y"`
	D     string `json:"d"`
	State string `json:"state"`
}

func readKeys(path string) []jwk {
	text, err := os.ReadFile(path)
	if err != nil {
		log.Fatal(err)
	}
	var set struct {
		Keys []jwk `json:"keys"`
	}
	if err := json.Unmarshal(text, &set); err != nil {
		log.Fatal(err)
	}
	return set.Keys
}

func number(text string) *big.Int {
	bytes, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		log.Fatal(err)
	}
	return new(big.Int).SetBytes(bytes)
}

func appleKeys() map[string]*rsa.PublicKey {
	keys := map[string]*rsa.PublicKey{}
	for _, key := range readKeys(os.Getenv("PEER_KEY_SET")) {
		keys[key.Kid] = &rsa.PublicKey{N: number(key.N), E: int(number(key.E).Int64())}
	}
	return keys
}

func signingKey() (string, *ecdsa.PrivateKey) {
	for _, key := range readKeys(os.Getenv("AUTH_APPLE_SIGNING_KEYS_FILE")) {
		if key.State == "current" {
			public := ecdsa.PublicKey{Curve: elliptic.P256(), X: number(key.X), Y: number(key.Y)}
			return key.Kid, &ecdsa.PrivateKey{PublicKey: public, D: number(key.D)}
		}
	}
	log.Fatal("no signing key")
	return "", nil
}

// ---- Apple's token

// looseBool is true, "true", false or "false": Apple sends both kinds.
type looseBool bool

func (b *looseBool) UnmarshalJSON(text []byte) error {
	switch strings.Trim(string(text), `"`) {
	case "true":
		*b = true
	case "false":
		*b = false
	default:
		return errors.New("not a boolean")
	}
	return nil
}

type appleClaims struct {
	Issuer         string           `json:"iss"`
	Audience       jwt.ClaimStrings `json:"aud"`
	Subject        string           `json:"sub"`
	Expires        *int64           `json:"exp"`
	Issued         *int64           `json:"iat"`
	Nonce          *string          `json:"nonce"`
	Email          *string          `json:"email"`
	EmailVerified  *looseBool       `json:"email_verified"`
	IsPrivateEmail *looseBool       `json:"is_private_email"`
}

// Valid judges the times; golang-jwt calls it once the signature holds.
func (c *appleClaims) Valid() error {
	now := time.Now().Unix()
	if c.Expires == nil || now-leeway >= *c.Expires {
		return errors.New("expired")
	}
	if c.Issued == nil || *c.Issued > now+leeway || *c.Issued < now-86400-leeway {
		return errors.New("issued at a wrong time")
	}
	return nil
}

func nonceMatches(claim, nonce *string) bool {
	if claim == nil || nonce == nil {
		return nonce == nil
	}
	digest := sha256.Sum256([]byte(*nonce))
	for _, form := range []string{*nonce, hex.EncodeToString(digest[:]), base64.RawURLEncoding.EncodeToString(digest[:])} {
		if subtle.ConstantTimeCompare([]byte(*claim), []byte(form)) == 1 {
			return true
		}
	}
	return false
}

func (s *service) verify(token string, nonce *string) (*appleClaims, string, error) {
	claims := &appleClaims{}
	parser := jwt.NewParser(jwt.WithValidMethods([]string{"RS256"}))
	_, err := parser.ParseWithClaims(token, claims, func(token *jwt.Token) (interface{}, error) {
		kid, _ := token.Header["kid"].(string)
		if key, found := s.apple[kid]; found {
			return key, nil
		}
		return nil, errors.New("unknown key")
	})
	if err != nil {
		return nil, "", err
	}
	if claims.Issuer != "https://appleid.apple.com" || claims.Subject == "" || !nonceMatches(claims.Nonce, nonce) {
		return nil, "", errors.New("wrong iss, sub or nonce")
	}
	for _, ours := range s.audiences {
		for _, theirs := range claims.Audience {
			if ours == theirs {
				return claims, ours, nil
			}
		}
	}
	return nil, "", errors.New("wrong aud")
}

// ---- The request

type event struct {
	Method  string            `json:"method"`
	Path    string            `json:"path"`
	Headers map[string]string `json:"headers"`
	Body    string            `json:"body"`
}

// fullName is a string, or the components as iOS encodes them.
type fullName string

func (n *fullName) UnmarshalJSON(text []byte) error {
	if text[0] == '"' {
		return json.Unmarshal(text, (*string)(n))
	}
	var parts struct {
		Given  string `json:"givenName"`
		Family string `json:"familyName"`
	}
	err := json.Unmarshal(text, &parts)
	*n = fullName(strings.TrimSpace(parts.Given + " " + parts.Family))
	return err
}

type request struct {
	IdentityToken string          `json:"identity_token"`
	Nonce         *string         `json:"nonce"`
	FullName      *fullName       `json:"full_name"`
	Email         *string         `json:"email"`
	DeviceInfo    json.RawMessage `json:"deviceInfo"`
}

func readRequest(text []byte) (*request, int) {
	var e event
	if json.Unmarshal(text, &e) != nil {
		return nil, 400
	}
	switch {
	case e.Path != "/auth/apple":
		return nil, 404
	case e.Method != "POST":
		return nil, 405
	case !strings.HasPrefix(e.Headers["content-type"], "application/json"):
		return nil, 415
	case len(e.Body) > 65536:
		return nil, 413
	}
	r := &request{}
	if json.Unmarshal([]byte(e.Body), r) != nil || r.IdentityToken == "" {
		return nil, 400
	}
	if !bytes.HasPrefix(r.DeviceInfo, []byte("{")) || len(r.DeviceInfo) > 4096 {
		return nil, 400
	}
	return r, 0
}

// ---- The store

type account struct {
	id             []byte
	fullName       *string
	email          *string
	emailVerified  *bool
	isPrivateEmail *bool
	contactEmail   *string
	disabledAt     *int64
}

func random(count int) []byte {
	bytes := make([]byte, count)
	if _, err := rand.Read(bytes); err != nil {
		log.Fatal(err)
	}
	return bytes
}

// uuidv7 is RFC 9562 §5.7.
func uuidv7(now time.Time) []byte {
	id := random(16)
	for i, milliseconds := 5, now.UnixMilli(); i >= 0; i, milliseconds = i-1, milliseconds>>8 {
		id[i] = byte(milliseconds)
	}
	id[6] = id[6]&0x0f | 0x70
	id[8] = id[8]&0x3f | 0x80
	return id
}

func uuidText(id []byte) string {
	return fmt.Sprintf("%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
}

func (s *service) store() *sql.DB {
	if s.database == nil {
		path := strings.TrimPrefix(os.Getenv("AUTH_APPLE_STORE"), "sqlite:")
		database, err := sql.Open("sqlite3",
			"file:"+path+"?mode=rw&_busy_timeout=5000&_foreign_keys=1&_journal_mode=WAL&_synchronous=FULL&_txlock=immediate")
		if err != nil {
			log.Fatal(err)
		}
		database.SetMaxOpenConns(1)
		s.database = database
	}
	return s.database
}

// prepared returns the transaction's statement of a text, which is compiled once for as long as the program runs.
func (s *service) prepared(transaction *sql.Tx, text string) *sql.Stmt {
	statement, found := s.statements[text]
	if !found {
		var err error
		if statement, err = transaction.Prepare(text); err != nil {
			log.Fatal(err)
		}
		if !s.loop {
			return statement
		}
	}
	return transaction.Stmt(statement)
}

// opened is what a sign-in leads to.
type opened struct {
	account      account
	isNew        bool
	session      []byte
	refreshToken string
}

func equal(left, right *string) bool {
	return left == right || left != nil && right != nil && *left == *right
}

func (s *service) signIn(
	claims *appleClaims, clientID string, r *request, requestID string, now time.Time,
) (result *opened, err error) {
	transaction, err := s.store().Begin()
	if err != nil {
		return nil, err
	}
	defer transaction.Rollback()
	milliseconds := now.UnixMilli()
	result = &opened{session: uuidv7(now)}
	known := &result.account
	err = s.prepared(transaction, selectAccount).QueryRow(claims.Subject).Scan(
		&known.id, &known.fullName, &known.email, &known.emailVerified, &known.isPrivateEmail, &known.contactEmail,
		&known.disabledAt)
	if err != nil && err != sql.ErrNoRows {
		return nil, err
	}
	result.isNew = err == sql.ErrNoRows
	if known.disabledAt != nil {
		return nil, errors.New("disabled")
	}
	before := *known
	if known.fullName == nil {
		known.fullName = (*string)(r.FullName)
	}
	if claims.Email != nil {
		known.email, known.emailVerified = claims.Email, (*bool)(claims.EmailVerified)
		private := claims.IsPrivateEmail != nil && bool(*claims.IsPrivateEmail)
		known.isPrivateEmail = &private
	} else if known.contactEmail == nil {
		known.contactEmail = r.Email
	}
	if result.isNew {
		known.id = uuidv7(now)
		_, err = s.prepared(transaction, insertAccount).Exec(
			known.id, claims.Subject, known.fullName, known.email, known.emailVerified, known.isPrivateEmail,
			known.contactEmail, milliseconds)
	} else if !equal(before.fullName, known.fullName) || !equal(before.email, known.email) ||
		!equal(before.contactEmail, known.contactEmail) || !same(before.emailVerified, known.emailVerified) ||
		!same(before.isPrivateEmail, known.isPrivateEmail) {
		_, err = s.prepared(transaction, updateAccount).Exec(
			known.id, known.fullName, known.email, known.emailVerified, known.isPrivateEmail, known.contactEmail,
			milliseconds)
	} else {
		err = nil
	}
	if err != nil {
		return nil, err
	}

	salt, secret := random(32), random(32)
	digest := sha256.Sum256(secret)
	named := append(append([]byte{}, result.session...), secret...)
	code := hmac.New(sha256.New, salt)
	code.Write(named)
	result.refreshToken = base64.RawURLEncoding.EncodeToString(append(named, code.Sum(nil)[:16]...))
	if _, err = s.prepared(transaction, insertSession).Exec(
		result.session, known.id, clientID, string(r.DeviceInfo), salt, digest[:], milliseconds+refreshSeconds*1000,
		milliseconds, milliseconds+sessionSeconds*1000); err != nil {
		return nil, err
	}
	audit := s.prepared(transaction, insertAudit)
	if result.isNew {
		if _, err = audit.Exec(known.id, milliseconds, "account_created", nil, requestID); err != nil {
			return nil, err
		}
	}
	if _, err = audit.Exec(known.id, milliseconds, "signed_in", result.session, requestID); err != nil {
		return nil, err
	}
	return result, transaction.Commit()
}

func isTrue(flag *bool) bool {
	return flag != nil && *flag
}

func same(left, right *bool) bool {
	return left == right || left != nil && right != nil && *left == *right
}

// ---- The answer

func (s *service) accessToken(result *opened, clientID string, now time.Time) (string, error) {
	token := jwt.NewWithClaims(jwt.SigningMethodES256, jwt.MapClaims{
		"iss": os.Getenv("AUTH_APPLE_TOKEN_ISSUER"), "aud": os.Getenv("AUTH_APPLE_TOKEN_AUDIENCE"),
		"sub": uuidText(result.account.id), "client_id": clientID, "sid": uuidText(result.session),
		"iat": now.Unix(), "exp": now.Unix() + accessSeconds, "jti": uuidText(uuidv7(now)),
	})
	token.Header["typ"] = "at+jwt"
	token.Header["kid"] = s.keyID
	return token.SignedString(s.key)
}

type user struct {
	ID             string  `json:"id"`
	FullName       *string `json:"full_name"`
	Email          *string `json:"email"`
	EmailVerified  bool    `json:"email_verified"`
	IsPrivateEmail bool    `json:"is_private_email"`
}

type session struct {
	ID string `json:"id"`
}

type answer struct {
	AccessToken      string  `json:"access_token"`
	TokenType        string  `json:"token_type"`
	ExpiresIn        int     `json:"expires_in"`
	RefreshToken     string  `json:"refresh_token"`
	RefreshExpiresIn int     `json:"refresh_expires_in"`
	IsNew            bool    `json:"is_new"`
	User             user    `json:"user"`
	Session          session `json:"session"`
}

type response struct {
	StatusCode      int               `json:"statusCode"`
	Headers         map[string]string `json:"headers"`
	Body            string            `json:"body"`
	IsBase64Encoded bool              `json:"isBase64Encoded"`
}

type logLine struct {
	Time      time.Time `json:"time"`
	Route     string    `json:"route"`
	Status    int       `json:"status"`
	Duration  float64   `json:"duration_ms"`
	RequestID string    `json:"request_id"`
	SubHash   string    `json:"sub_hash,omitempty"`
	IsNew     bool      `json:"account_created"`
}

type service struct {
	audiences  []string
	apple      map[string]*rsa.PublicKey
	keyID      string
	key        *ecdsa.PrivateKey
	database   *sql.DB
	statements map[string]*sql.Stmt
	loop       bool
}

func (s *service) serve(text []byte, output *json.Encoder, lines *json.Encoder) {
	now := time.Now()
	line := logLine{
		Time: now.UTC(), Route: "POST /auth/apple", RequestID: base64.RawURLEncoding.EncodeToString(random(16)),
	}
	body := interface{}(map[string]string{"type": "about:blank", "title": "The request was refused"})
	r, status := readRequest(text)
	if status == 0 {
		claims, clientID, err := s.verify(r.IdentityToken, r.Nonce)
		if err != nil {
			status = 401
		} else {
			hash := sha256.Sum256([]byte(claims.Subject))
			line.SubHash = base64.RawURLEncoding.EncodeToString(hash[:16])
			result, err := s.signIn(claims, clientID, r, line.RequestID, now)
			if err != nil {
				log.Fatal(err)
			}
			access, err := s.accessToken(result, clientID, now)
			if err != nil {
				log.Fatal(err)
			}
			status, line.IsNew = 200, result.isNew
			if result.isNew {
				status = 201
			}
			known := result.account
			body = answer{
				access, "Bearer", accessSeconds, result.refreshToken, refreshSeconds, result.isNew,
				user{uuidText(known.id), known.fullName, known.email, isTrue(known.emailVerified), isTrue(known.isPrivateEmail)},
				session{uuidText(result.session)},
			}
		}
	}
	kind := "application/json"
	if status >= 400 {
		kind = "application/problem+json"
	}
	content, err := json.Marshal(body)
	if err != nil {
		log.Fatal(err)
	}
	err = output.Encode(response{
		status, map[string]string{"content-type": kind, "cache-control": "no-store"}, string(content), false,
	})
	if err != nil {
		log.Fatal(err)
	}
	line.Status, line.Duration = status, float64(time.Since(now).Microseconds())/1000
	lines.Encode(line)
}

func main() {
	s := &service{
		audiences: strings.Split(os.Getenv("AUTH_APPLE_AUDIENCES"), ","), apple: appleKeys(),
		statements: map[string]*sql.Stmt{}, loop: len(os.Args) == 2 && os.Args[1] == "lines",
	}
	s.keyID, s.key = signingKey()
	output, lines := json.NewEncoder(os.Stdout), json.NewEncoder(os.Stderr)
	if s.loop {
		for _, text := range []string{selectAccount, insertAccount, updateAccount, insertSession, insertAudit} {
			statement, err := s.store().Prepare(text)
			if err != nil {
				log.Fatal(err)
			}
			s.statements[text] = statement
		}
		input := bufio.NewScanner(os.Stdin)
		input.Buffer(nil, 131072)
		for input.Scan() {
			s.serve(input.Bytes(), output, lines)
		}
	} else {
		text, err := io.ReadAll(io.LimitReader(os.Stdin, 131072))
		if err != nil {
			log.Fatal(err)
		}
		s.serve(text, output, lines)
	}
	if s.database != nil {
		s.database.Close()
	}
}

const (
	selectAccount = `SELECT id, full_name, email, email_verified, is_private_email, contact_email, disabled_at
		FROM accounts WHERE apple_sub = ?1`
	insertAccount = `INSERT INTO accounts (id, apple_sub, full_name, email, email_verified, is_private_email, contact_email,
		created_at, updated_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?8)`
	updateAccount = `UPDATE accounts SET full_name = ?2, email = ?3, email_verified = ?4, is_private_email = ?5,
		contact_email = ?6, updated_at = ?7 WHERE id = ?1`
	insertSession = `INSERT INTO sessions (id, account_id, client_id, device_info, salt, refresh_digest, refresh_expires_at,
		created_at, last_used_at, ends_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?8, ?9)`
	insertAudit = `INSERT INTO audit (account_id, number, time, event, session_id, request_id) VALUES (?1,
		1 + ifnull((SELECT max(number) FROM audit WHERE account_id = ?1), 0), ?2, ?3, ?4, ?5)`
)
